// What answers to the reader. The state of the view is in the address.
const root = document.documentElement;
const [KEYCHG, KEYABS] = all('#mapkey > [class]');
const HOME = {m: M[D.objective].family in LATENCIES ? M[D.objective].family : M[D.objective].name, s: $('stat') ? $('stat').value : 'p90',
	v: KEYCHG?.hidden ? 'abs' : 'chg', x: D.map[0], p: $('point') ? D.focus : -1, held: D.home};
const drawn = {};
let state = {...HOME, held: [...D.home]};
const statOf = f => metricAt(`${state.s}_${f}_ms`);
const metricOf = () => state.m in LATENCIES ? statOf(state.m) : metricAt(state.m);
const replace = (old, svg) => {
	if (!svg) return;
	for (const n of ['viewBox', 'width', 'height']) old.setAttribute(n, svg.getAttribute(n));
	old.replaceChildren(...svg.childNodes);
	Object.assign(old, {cdf: svg.cdf, area: svg.area});
	return old;
};
const caption = (box, title) => { $(box).querySelector('b').textContent = title; };

function redraw() {
	const k = metricOf(), view = {metric: k, change: state.v === 'chg', along: state.x, held: state.held, home: D.home, p: state.p};
	const draw = (id, svg) => { replace($(id), svg).ariaLabel = M[k].title + '. The table of points holds the figures.'; };
	if (D.shape === 'grid') {
		draw('heat', heat(view)); draw('slice', slice(view));
		caption('box-heat', M[k].title); caption('box-slice', M[k].title);
		$('box-heat').querySelector('.fn').textContent = view.change ? `against the default, in ${unitOf(k)}. Blue is better; grey: no difference shown.` : `values${M[k].unit && ' in ' + M[k].unit}; darker is more.`;
		KEYCHG.hidden = !(KEYABS.hidden = view.change);
	} else if (D.shape === 'number') {
		const second = M[k].family === 'itl' ? statOf('ttft') : statOf('itl');
		[k, second].forEach((q, i) => { replace($('line' + i), family('line' + i, q, view)); caption('box-line' + i, LATENCIES[M[q].family] || M[q].title); });
	} else if (D.shape === 'word') {
		draw('rows', rows(view)); caption('box-rows', M[k].title);
	} else if (D.shape === 'scatter') for (const a of D.live) if ($('knob' + a)) { draw('knob' + a, knob(a, k)); caption('box-knob' + a, M[k].title); }
	// Only what its part of the state changes is drawn again.
	const fresh = (id, of) => $(id) && drawn[id] !== (drawn[id] = of);
	if (fresh('pareto', state.s)) replace($('pareto'), scatter({id: 'pareto', w: 553, h: 372, x: statOf('ttft'), y: statOf('itl'), front: true, names: true}));
	if (fresh('balance', 1)) replace($('balance'), scatter({id: 'balance', w: 366, h: 250, x: metricAt('imbalance_busy'), y: metricAt('reuse_share')}));
	if (fresh('goodput', state.p)) replace($('goodput'), goodput(view));
	for (const i of [0, 1, 2]) if (fresh('cdf' + i, state.p)) replace($('cdf' + i), cdf(i, state.p));
	const kept = D.cdf[state.p];
	$('picked').hidden = state.p < 0 || curves().some(c => c[0] === state.p);
	$('picked').lastChild.textContent = kept ? D.names[state.p] : `${D.names[state.p]}: not kept here; routesim plot DIR --kind cdf --point ${D.ids[state.p]}`;
	rings(); controls();
}
// The box of a mark, from how it was drawn: asking the browser for it would make it
// lay out the page first.
function boxOf(e) {
	const n = a => +e.getAttribute(a);
	if (e.tagName === 'circle') return {x: n('cx') - n('r'), y: n('cy') - n('r'), width: 2 * n('r'), height: 2 * n('r')};
	if (e.tagName === 'rect') return {x: n('x'), y: n('y'), width: n('width'), height: n('height')};
	if (e.tagName === 'g') return e.firstChild.tagName === 'rect' ? boxOf(e.firstChild) : e.getBBox();
	const [x, y, a, b] = e.getAttribute('d').match(/[\d.]+/g).map(Number);
	return {x: x - a, y, width: 2 * a, height: a === b ? 2 * b : b};
}
function rings() {
	for (const svg of all('figure .plot')) {
		all('.ring', svg).forEach(e => e.remove());
		for (const e of all(`[data-p="${state.p}"]`, svg)) {
			if (e.tagName === 'g') continue;
			const b = boxOf(e);
			el(svg, 'circle', 'ring', {cx: b.x + b.width / 2, cy: b.y + b.height / 2, r: max(b.width, b.height) / 2 + 3});
		}
	}
	for (const r of all('#table tbody tr')) r.classList.toggle('on', +r.dataset.p === state.p);
}
function controls() {
	if ($('metric')) { $('metric').value = state.m; $('stat').value = state.s; $('statbox').hidden = !(state.m in LATENCIES); }
	for (const b of all('[data-v]')) b.ariaPressed = b.dataset.v === state.v;
	for (const b of all('[data-x]')) b.ariaPressed = +b.dataset.x === state.x;
	for (const s of all('[data-o]')) s.value = state.held[s.dataset.o];
	for (const b of all('[data-z="0"]')) b.hidden = !zooms[plotOf(b).id];
	if (state.p >= 0) panel();
}
function panel() {
	const p = state.p, base = D.base[p];
	$('pname').textContent = pointName(p);
	for (const r of $('ptable').tBodies[0].rows) {
		const k = +r.dataset.m, s = sign(p, k), t = changeText(p, k);
		r.cells[1].textContent = base < 0 ? MISSING : number(value(base, k), M[k].kind);
		r.cells[2].textContent = full(p, k);
		r.cells[3].textContent = t || MISSING;
		r.cells[3].className = !t ? '' : s === '+' ? 'good' : s === '-' ? 'bad' : s === '.' ? 'eq' : '';
	}
	const f = forms(p);
	for (const pre of $('point').querySelectorAll('[data-form] pre')) pre.textContent = f[pre.dataset.f];
	$('alone').textContent = alone(p);
}
function select(p, say) {
	state.p = p;
	if (D.shape === 'grid') D.live.forEach(a => { if (!D.map.includes(a) && D.vals[p][a] >= 0) state.held[a] = D.vals[p][a]; });
	redraw(); remember();
	if (say) $('live').textContent = 'Selected ' + tipText(p).replaceAll('\n', ', ');
}

// The address
function remember() {
	const out = [];
	for (const k of ['m', 's', 'v', 'x']) if (state[k] !== HOME[k]) out.push(`${k}=${encodeURIComponent(state[k])}`);
	if (state.p !== HOME.p) out.push('p=' + D.ids[state.p]);
	const o = D.live.filter(a => !D.map.includes(a) && state.held[a] !== D.home[a]).map(a => `${D.axes[a].name}:${encodeURIComponent(D.axes[a].values[state.held[a]])}`);
	if (o.length) out.push('o=' + o.join(','));
	const z = Object.keys(zooms).map(id => [id, zooms[id].from, zooms[id].to].join(':'));
	if (z.length) out.push('z=' + z.join(','));
	if (root.dataset.theme) out.push('t=' + root.dataset.theme);
	history.replaceState(null, '', out.length ? '#' + out.join('&') : location.pathname + location.search);
}
function recall() {
	const h = location.hash.slice(1);
	if (!h.includes('=')) return false;
	state = {...HOME, held: [...D.home]};
	for (const id in zooms) setZoom(id);
	for (const part of h.split('&')) {
		const i = part.indexOf('='), k = part.slice(0, i), raw = part.slice(i + 1);
		let v;
		try { v = decodeURIComponent(raw); } catch { continue; }
		const has = (id, v) => $(id) && [...$(id).options].some(o => o.value === v && !o.disabled);
		if (k === 'm' && has('metric', v) || k === 's' && has('stat', v)) state[k] = v;
		if (k === 'v' && (v === 'chg' || v === 'abs')) state.v = v;
		if (k === 'x' && D.live.includes(+v)) state.x = +v;
		if (k === 'p' && D.ids.includes(v)) state.p = D.ids.indexOf(v);
		if (k === 't' && (v === 'dark' || v === 'light')) root.dataset.theme = v;
		if (k === 'z') for (const q of raw.split(',')) {
			const [id, from, to] = q.split(':');
			if (zoomable($(id))) setZoom(id, +from, +to);
		}
		if (k === 'o') for (const q of raw.split(',')) {
			const a = D.axes.findIndex(x => q.startsWith(x.name + ':')), j = a < 0 ? -1 : D.axes[a].values.indexOf(decodeURIComponent(q.slice(q.indexOf(':') + 1)));
			if (j >= 0) state.held[a] = j;
		}
	}
	return true;
}

// Hints
const STATES = {f: 'failed', n: 'not complete', s: 'saturated', i: 'fewer requests complete'};
function tipText(p) {
	const out = [pointName(p)], row = k => {
		if (k < 0 || nan(value(p, k))) return;
		const t = changeText(p, k);
		out.push(`${M[k].title} ${full(p, k)}${t ? ', ' + t : ''}`);
	};
	const k = metricOf(), list = ['ttft', 'itl', 'e2e'].map(statOf);
	if (!list.includes(k)) list.unshift(k);
	[...list, ...['reuse_share', 'imbalance_busy', 'completed'].map(metricAt).filter(q => q !== k)].forEach(row);
	if (STATES[D.status[p]]) out.push(STATES[D.status[p]]);
	return out.join('\n');
}
const marks = svg => all('[data-p],[data-t]', svg).map(e => { const b = boxOf(e); return {e, x: b.x + b.width / 2, y: b.y + b.height / 2}; });
const where = (svg, e) => { const r = svg.getBoundingClientRect(), v = svg.viewBox.baseVal, f = v.width / r.width; return {x: (e.clientX - r.left) * f, y: (e.clientY - r.top) * f, f}; };
const textOf = e => e.dataset.t || tipText(+e.dataset.p);
function cdfText(c, x) {
	const s = c.x, v = s.of(x), m = M[metricAt(`p90_${SPREAD[c.k]}_ms`)];
	if (x < s.a || x > s.b) return '';
	return [`within ${number(v, 's')}${HARD}${m.unit}`, ...c.list.map(([p]) => {
		const q = quantiles(p, c.k), i = q.findIndex(u => u > v);
		const n = i < 0 ? 1 : i === 0 ? 0 : D.shares[i - 1] + (D.shares[i] - D.shares[i - 1]) * (v - q[i - 1]) / (q[i] - q[i - 1]);
		return `${p === REF ? D.names[p] : pointName(p)}: ${fixed(n * 100, 1)}${HARD}%`;
	})].join('\n');
}
function stripText(svg, g, at) {
	const n = +svg.id.slice(7), s = D.strips[n], k = +g.dataset.g, i = floor((at.y - g.dataset.y) / 13), b = floor((at.x - g.dataset.x) / g.dataset.c);
	if (!s || !s.cells[k][i]) return '';
	const row = s.cells[k][i].split(' ').flatMap(c => { const [v, times] = c.split('*'); return Array(+times || 1).fill(parseInt(v, 36)); });
	if (!(b >= 0 && b < row.length)) return '';
	return `${s.shown[i]}, ${number(b * s.width / 6e4, 's')}${HARD}min after the start\n${['KV memory in use', 'running, at most', 'waiting, at most'][k]}: ${row[b]}${k ? '' : HARD + '%'}`;
}
function found(svg, e) {
	const hit = e.target.closest('[data-p],[data-t]');
	if (hit) return {e: hit, text: textOf(hit)};
	const at = where(svg, e);
	if (svg.id.startsWith('cdf') && areaOf(svg)) return {text: cdfText(svg.cdf, at.x)};
	const g = e.target.closest('.strip');
	if (g) return {text: stripText(svg, g, at)};
	let best = null, far = 18 * at.f;
	for (const q of marks(svg)) {
		const d = hypot(q.x - at.x, q.y - at.y);
		if (q.e.tagName !== 'g' && d < far) { best = q; far = d; }
	}
	return best && {e: best.e, text: textOf(best.e)};
}
function tip(text, x, y) {
	const t = $('tip');
	t.classList.toggle('on', !!text);
	if (!text) return;
	t.textContent = text;
	const r = t.getBoundingClientRect();
	t.style.transform = `translate(${max(4, min(x + 14, innerWidth - r.width - 6))}px,${y + 18 + r.height > innerHeight ? max(4, y - r.height - 12) : y + 18}px)`;
}
function arrows(svg, e) {
	const d = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]}[e.key], list = marks(svg);
	let now = list.find(m => m.e === svg.now) || null;
	if (e.key === 'Escape') return tip('');
	if ('+-'.includes(e.key) && areaOf(svg)) return zoomBy(svg, now ? now.x : (svg.area.l + svg.area.r) / 2, e.key === '+' ? 0.5 : 2);
	if (e.key === 'Enter' && now?.e.dataset.p) { const p = +now.e.dataset.p; select(p, true); svg.now = svg.querySelector(`[data-p="${p}"]`); return ring(svg); }
	if (!d || !list.length) return;
	e.preventDefault();
	if (!now) now = list.find(m => +m.e.dataset.p === state.p) || list[0];
	else {
		let best = null, least = Infinity;
		for (const m of list) {
			const dx = m.x - now.x, dy = m.y - now.y, ahead = dx * d[0] + dy * d[1], aside = abs(dx * d[1]) + abs(dy * d[0]);
			if (ahead > 0.5 && ahead + 3 * aside < least) { best = m; least = ahead + 3 * aside; }
		}
		now = best || now;
	}
	svg.now = now.e;
	ring(svg);
	const r = now.e.getBoundingClientRect(), text = textOf(now.e);
	tip(text, r.right, r.bottom);
	$('live').textContent = text.replaceAll('\n', ', ');
}
function ring(svg) {
	all('.cur', svg).forEach(e => e.remove());
	if (!svg.now) return;
	const b = boxOf(svg.now);
	el(svg, 'rect', 'cur', {x: b.x - 2, y: b.y - 2, width: b.width + 4, height: b.height + 4, rx: 3});
}

// Copying
function said(button, word) {
	const was = button.dataset.was ??= button.textContent;
	button.textContent = $('live').textContent = word;
	setTimeout(() => { button.textContent = was; }, 1500);
}
async function copy(button) {
	const box = button.closest('.paste'), pre = all('pre', box).find(e => getComputedStyle(e).display !== 'none');
	try { await navigator.clipboard.writeText(pre.textContent); }
	catch { getSelection().selectAllChildren(pre); document.execCommand('copy'); }
	said(button, 'Copied');
}
function forms(p) {
	const list = [], [none, note, head] = D.k8s;
	for (let i = 0; i < D.flags[p].length; i += 2) {
		const [flag, env, item, listed] = D.flagtexts[D.flags[p][i]], fill = t => t.replaceAll('0VALUE0', D.flags[p][i + 1]);
		list.push({flag: fill(flag), env: fill(env), item: fill(item), listed});
	}
	if (!list.length) return {flags: '# the defaults: no flags', env: '# the defaults: no variables', k8s: none};
	const items = list.filter(f => f.listed).map(f => f.item);
	return {flags: list.map(f => f.flag).join(' \\\n'), env: list.map(f => f.env).join('\n'),
		k8s: [note, ...list.filter(f => !f.listed).map(f => f.item), ...(items.length ? [head, ...items] : [])].join('\n')};
}
function alone(p) {
	const args = [...D.run];
	D.axes.forEach((a, i) => { const v = a.values[D.vals[p][i]] ?? (D.outside[p] || {})[i]; if (v) args.push(`--${a.name}=${v}`); });
	if (p === REF && D.added.includes(p)) args.push('--router-mode=round-robin');
	return [...args, '--seed=' + D.seed].map((a, i) => (i && a.startsWith('--') ? ' \\\n  ' : i ? ' ' : '') + (/^[\w\-./:=,@%+]+$/.test(a) ? a : "'" + a.replaceAll("'", "'\\''") + "'")).join('');
}

// The table
function sort(th) {
	const k = +th.dataset.k, body = $('table').tBodies[0], down = th.ariaSort ? th.ariaSort !== 'descending' : M[k].dir > 0;
	all('#table th[data-k]').forEach(h => { h.ariaSort = null; });
	th.ariaSort = down ? 'descending' : 'ascending';
	const key = r => { const p = +r.dataset.p, v = value(p, k); return p === DEF ? -Infinity : nan(v) ? Infinity : down ? -v : v; };
	body.append(...[...body.rows].sort((a, b) => { const x = key(a), y = key(b); return x < y ? -1 : x > y ? 1 : 0; }));
}
function set(change) { Object.assign(state, change); redraw(); remember(); }
function setZoom(id, from, to) {
	delete zooms[id]; delete drawn[id];
	if (from >= 0 && to - from >= 5 && to <= 1000 && to - from < 1000) zooms[id] = {from, to};
}
// Says of what is too wide for the window that it scrolls, and to which sides.
function edges(e) {
	const over = e.scrollWidth - e.clientWidth;
	e.classList.toggle('wide', over > 1);
	e.classList.toggle('before', over > 1 && e.scrollLeft > 1);
	e.classList.toggle('after', over > 1 && e.scrollLeft < over - 1);
}
function watchEdges() {
	// Later than the observer's own turn: what it changes is observed too.
	const look = new ResizeObserver(list => requestAnimationFrame(() => list.forEach(o => edges(o.target.closest('.scroll,nav')))));
	for (const e of all('.scroll,nav')) {
		look.observe(e);
		if (e.firstElementChild) look.observe(e.firstElementChild);
		e.onscroll = () => edges(e);
	}
}
function start() {
	if ($('metric')) { $('metric').onchange = e => set({m: e.target.value}); $('stat').onchange = e => set({s: e.target.value}); }
	for (const s of all('[data-o]')) s.onchange = () => { state.held[s.dataset.o] = +s.value; set({}); };
	onclick = e => {
		const b = e.target.closest('button'), row = e.target.closest('#table tbody tr'), svg = e.target.closest('figure .plot');
		if (b && b.dataset.v) set({v: b.dataset.v});
		else if (b && b.dataset.x) set({x: +b.dataset.x});
		else if (b && b.dataset.f) {
			b.closest('.paste').dataset.form = b.dataset.f;
			for (const o of all('[data-f]', b.parentNode)) o.ariaPressed = o === b;
		} else if (b && b.classList.contains('copy')) copy(b);
		else if (b && b.dataset.pic) take(b);
		else if (b && b.dataset.z === '1') b.ariaPressed = plotOf(b).classList.toggle('pick');
		else if (b && b.dataset.z) { setZoom(plotOf(b).id); set({}); }
		else if (b && b.parentNode.dataset.k) sort(b.parentNode);
		else if (row) select(+row.dataset.p, true);
		else if (svg && !drag?.over && !(svg.area && where(svg, e).y > svg.area.b)) { const hit = found(svg, e); if (hit?.e?.dataset.p) select(+hit.e.dataset.p, true); }
	};
	$('theme').onclick = () => {
		const now = root.dataset.theme || (matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light');
		root.dataset.theme = now === 'dark' ? 'light' : 'dark';
		remember();
	};
	for (const svg of all('figure .plot')) {
		svg.closest('figure').insertAdjacentHTML('afterbegin', `<div class="tools">${zoomable(svg) ? '<button data-z="1" aria-pressed="false" title="Drag over the picture, or double click below its axis; + and − on the keyboard">Zoom</button><button data-z="0" hidden>Reset</button>' : ''}<button data-pic="png">Copy picture</button><button data-pic="svg" title="Save the picture as SVG">SVG</button></div>`);
		svg.onpointermove = e => {
			if (drag && !drag.over) return band(svg, where(svg, e).x);
			tip(found(svg, e)?.text, e.clientX, e.clientY);
		};
		if (zoomable(svg)) drags(svg);
		svg.onpointerleave = () => tip('');
		if (!svg.querySelector('[data-p],[data-t]')) continue;
		svg.tabIndex = 0;
		svg.onkeydown = e => arrows(svg, e);
		svg.onblur = () => { svg.now = null; ring(svg); tip(''); };
	}
	onkeydown = e => { if (e.key === 'Escape') tip(''); };
	for (const th of all('#table th[data-k]')) {
		const b = document.createElement('button'), s = document.createElement('span');
		s.className = 'printonly';
		s.textContent = b.textContent = th.textContent;
		th.replaceChildren(s, b);
	}
	onhashchange = () => { if (recall()) redraw(); };
	if (recall()) redraw();
	watchEdges();
	root.classList.add('js');
	root.dataset.ready = 1;
}
onerror = () => root.classList.remove('js');
start();
