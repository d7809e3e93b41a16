// Pictures, drawn as the program that wrote this page draws them.
const D = JSON.parse(document.getElementById('data').textContent);
const HARD = '\u00a0', MISSING = '–', TIED = '≈';
const [DEF, CHO, ALT, REF] = D.roles;
const $ = id => document.getElementById(id);
const {max, min, floor, ceil, round, abs, log: ln, log10, exp, hypot} = Math, nan = Number.isNaN, finite = Number.isFinite;
const all = (what, e = document) => [...e.querySelectorAll(what)];
const at = (column, i) => column.length === 1 ? column[0] : column[i];
const M = D.metrics.map(([name, title, unit, kind, family, dir, pp]) => ({name, title, unit, kind, family, dir, pp, label: unit ? `${title} (${unit})` : title, better: dir < 0 ? ' ← better' : dir > 0 ? ' better →' : ''}));
const metricAt = name => M.findIndex(m => m.name === name);
const value = (p, k) => { const v = p < 0 || k < 0 ? null : at(D.val[k], p); return v === null ? NaN : v; };
const moved = (p, k) => p < 0 ? null : at(D.chg[k], p);
const sign = (p, k) => D.sign[k].length === 1 ? D.sign[k] : D.sign[k][p];
const ok = p => 'vodr'.includes(D.status[p]);

// Numbers
const pretty = s => s.replace('-', '−').replace(/\B(?=(\d{3})+(?!\d))/g, (_, __, i, s) => /\..*/.test(s.slice(0, i)) ? '' : '\u202f');
function fixed(v, d) { const s = pretty(v.toFixed(d)); return /[1-9]/.test(s) ? s : s.replace('−', ''); }
function decimals(v, kind) {
	if (kind === 'p' || kind === 'd') return 1;
	if (kind === 'x') return 2;
	if (kind === 'n') return Number.isInteger(v) ? 0 : 1;
	let a = abs(v), d = 0;
	if (a === 0) return 0;
	while (d < 5 && round(a * 10 ** (d + 1)) < 1000) d++;
	return d;
}
const number = (v, kind) => finite(v) ? fixed(kind === 'd' ? floor(v * 10) / 10 : v, decimals(v, kind)) : MISSING;
function compact(v) { let d = 0; const a = abs(v); while (a > 0 && d < 3 && round(a * 10 ** (d + 1)) < 100) d++; return fixed(v, d); }
function change(t, unit) {
	if (t >= 9000 && unit === '%') return number(1 + t / 1000, 's') + '×';
	const a = abs(t);
	return (t < 0 ? '−' : t > 0 ? '+' : '') + pretty(String(floor(a / 10))) + '.' + a % 10 + HARD + unit;
}
function whole(t) { const n = floor((abs(t) + 5) / 10); return n ? (t < 0 ? '−' : '+') + pretty(String(n)) : '0'; }
const unitOf = k => M[k].pp ? 'pp' : '%';
const full = (p, k) => { const s = number(value(p, k), M[k].kind); return s === MISSING || !M[k].unit ? s : s + HARD + M[k].unit; };
function changeText(p, k) {
	const t = moved(p, k);
	return t === null || p === D.base[p] ? '' : change(t, unitOf(k)) + (sign(p, k) === '.' ? ' ' + TIED : '');
}
function bounds(p, k) {
	const lo = at(D.lo[k], p), hi = at(D.hi[k], p), base = value(D.base[p], k);
	if (lo === null || hi === null || !finite(base)) return null;
	return [lo, hi].map(t => base + (M[k].pp ? t / 10 : base * t / 1000));
}
function pointName(p) {
	const n = D.names[p], part = p === DEF && p === CHO ? D.kept : p === DEF ? 'default' : p === CHO ? D.part : p === ALT ? 'alternative' : '';
	return joined(n, part);
}

// Scales
function scale(lo, hi, a, b, log) {
	const same = v => v, [f, g] = log ? [ln, exp] : [same, same], all = f(hi) - f(lo);
	return {lo, hi, a, b, log, at: v => all ? a + (f(v) - f(lo)) / all * (b - a) : (a + b) / 2, of: p => g(f(lo) + (p - a) / (b - a) * all)};
}
function ticks(s, n) {
	const out = [];
	if (s.log) {
		const wide = log10(s.hi / s.lo), steps = wide <= 0.8 ? [1, 1.5, 2, 3, 4, 5, 6, 8] : wide <= 1.6 ? [1, 2, 5] : wide <= 3.2 ? [1, 3] : [1];
		for (let e = floor(log10(s.lo)); e <= ceil(log10(s.hi)); e++)
			for (const f of steps) {
				const v = f * 10 ** e;
				if (v >= s.lo * (1 - 1e-6) && v <= s.hi * (1 + 1e-6)) out.push([v, fixed(v, max(0, (f === 1.5) - e))]);
			}
		return out;
	}
	if (!(s.hi > s.lo)) return [[s.lo, number(s.lo, 's')]];
	const rough = (s.hi - s.lo) / n, mag = 10 ** floor(log10(rough) + 1e-9);
	const step = ([1, 2, 5].find(f => f * mag >= rough * (1 - 1e-9)) || 10) * mag;
	const d = max(0, -floor(log10(step) + 1e-9));
	for (let k = ceil(s.lo / step - 1e-6); k <= floor(s.hi / step + 1e-6); k++) out.push([k * step, fixed(k * step, d)]);
	return out;
}
function span(values) {
	let lo = Infinity, hi = -Infinity;
	for (const v of values) if (finite(v)) { lo = min(lo, v); hi = max(hi, v); }
	if (lo > hi) return [0, 1];
	const mid = (lo + hi) / 2, least = abs(mid) * 0.02 || 1;
	if (hi - lo < least) { lo = mid - least / 2; hi = mid + least / 2; }
	const pad = (hi - lo) * 0.04;
	return [lo - pad, hi + pad];
}
function places(axis, from, to) {
	const x = axis.numbers, n = axis.values.length;
	if (!x || x.length === 1) return axis.values.map((_, i) => from + (to - from) * (i + 0.5) / n);
	const zero = axis.log && x[0] === 0;
	const s = zero ? scale(x[1], x[n - 1], from + 36, to, true) : scale(x[0], x[n - 1], from, to, axis.log);
	return x.map((v, i) => zero && i === 0 ? from : s.at(v));
}
function width(text, size) {
	let em = 0;
	for (const c of text) em += " .,:;'|ijl\u202f\u00a0".includes(c) ? 0.34 : 'mwMW−+=≈→←×%@'.includes(c) ? 0.95 : c >= 'A' && c <= 'Z' ? 0.74 : c >= '\u2000' ? 1 : 0.64;
	return em * size;
}
const shorten = (s, most) => [...s].length <= most ? s : [...s].slice(0, most - 1).join('') + '…';
const labelIn = (label, n) => shorten([...label].length <= n ? label : label.replace(/\s\([^(]*\)$/, ''), n);
const px = v => { const s = String(round(v * 10) / 10); return s === '-0' ? '0' : s; };

function el(parent, name, cls, attrs) {
	const e = document.createElementNS('http://www.w3.org/2000/svg', name);
	if (cls) e.setAttribute('class', cls);
	for (const k in attrs) e.setAttribute(k, typeof attrs[k] === 'number' ? px(attrs[k]) : attrs[k]);
	if (parent) parent.append(e);
	return e;
}
// The parts of x axes that the reader zoomed to, in thousandths of an axis, by
// picture. A part is of what the axis showed then; of anything else there is none.
let zooms = {};
function zoomOf(id, title) {
	const z = zooms[id];
	if (z && (z.title ??= title) !== title) delete zooms[id];
	return zooms[id];
}
// A picture being drawn. All texts are set as texts, never as markup.
class Canvas {
	constructor(id, w, h) {
		this.w = w; this.h = h;
		this.svg = this.top = this.el('svg', 'plot', {id, viewBox: `0 0 ${px(w)} ${px(h)}`, width: px(w), height: px(h), role: 'img'});
	}
	el(name, cls, attrs) { return el(this.top, name, cls, attrs); }
	group(cls, attrs, draw) { const g = this.el('g', cls, attrs), top = this.top; this.top = g; draw(); this.top = top; }
	// The x axis of the area a, a scale or places on it, as far as it is zoomed to.
	// What lies outside is left out, lines are cut off.
	zoom(a, title, x) {
		const id = this.svg.id, z = zoomOf(id, title);
		this.svg.area = a;
		if (!z) return x;
		const [from, to] = [z.from, z.to].map(t => a.l + (a.r - a.l) * t / 1000), s = scale(from, to, a.l, a.r);
		if (!this.clip) {
			this.clip = `url(#${id}-clip)`;
			el(this.el('clipPath', '', {id: id + '-clip'}), 'rect', '', {x: a.l, y: 0, width: a.r - a.l, height: a.b});
		}
		return x.map ? x.map(s.at) : scale(x.of(from), x.of(to), a.l, a.r, x.log);
	}
	shows(x) { const a = this.svg.area; return x > a.l - 1 && x < a.r + 1; }
	curve(cls, d) { this.el('path', cls, {d, ...(this.clip && {'clip-path': this.clip})}); }
	line(cls, x1, y1, x2, y2) { this.el('line', cls, {x1, y1, x2, y2}); }
	text(cls, anchor, x, y, turn, text) {
		this.el('text', cls, {...(anchor !== 'start' && {'text-anchor': anchor}), x, y, ...(turn && {transform: `rotate(${turn} ${px(x)} ${px(y)})`})}).textContent = text;
	}
	xAxis(a, list, where, title) {
		this.line('al', a.l, a.b, a.r, a.b);
		let last = -Infinity;
		for (const [v, text] of list) {
			const p = where(v), w = width(text, 12.5);
			if (p < a.l - 1 || p > a.r + 1) continue;
			this.line('al', p, a.b, p, a.b + 4);
			if (p - w / 2 < last + 7) continue;
			let x = p, anchor = 'middle';
			if (p + w / 2 > this.w - 1) {
				x = this.w - 1; anchor = 'end';
				if (x - w < last + 7) continue;
			}
			this.text('tk', anchor, x, a.b + 18, 0, text);
			last = p + w / 2;
		}
		if (title) this.text('ax', 'middle', (a.l + a.r) / 2, a.b + 37, 0, title);
	}
	frame(a, xs, where, y, ys, xTitle, yTitle) {
		for (const [v, text] of ys) {
			this.line('gl', a.l, y.at(v), a.r, y.at(v));
			this.text('tk', 'end', a.l - 7, y.at(v) + 4, 0, text);
		}
		this.xAxis(a, xs, where, xTitle);
		if (yTitle) this.text('ax', 'middle', 13, (a.t + a.b) / 2, -90, yTitle);
	}
	mark(role, x, y, p) {
		const d = {'data-p': p};
		if (!this.shows(x)) return;
		if (role === 4) this.el('path', 'mc', {d: `M${px(x)} ${px(y - 8)}l8 8l-8 8l-8-8z`, ...d});
		else if (role === 3) this.el('rect', 'md', {x: x - 5.5, y: y - 5.5, width: 11, height: 11, ...d});
		else if (role === 2) this.el('path', 'mr', {d: `M${px(x)} ${px(y - 6.5)}l6.5 11.5h-13z`, ...d});
		else this.el('circle', role ? 'mf' : 'm', {cx: x, cy: y, r: role ? 4.5 : 3, ...d});
	}
	legend(x, right, list) {
		let cx = x, y = 13;
		for (const [line, text] of list) {
			const cls = line < 0 ? 'slo' : 'ln l' + line, w = 38 + width(text, 12.5);
			if (cx > x && cx + w > right) { cx = x; y += 18; }
			this.line(cls, cx, y - 4, cx + 28, y - 4);
			this.text('', 'start', cx + 34, y, 0, text);
			cx += w + 14;
		}
		return list.length ? y + 7 : 0;
	}
}
function path(points) {
	let out = '', pen = 'M';
	for (const [x, y] of points) {
		if (nan(x) || nan(y)) { pen = 'M'; continue; }
		out += pen + px(x) + ' ' + px(y);
		pen = 'L';
	}
	return out;
}
const left = ys => ceil(max(0, ...ys.map(t => width(t[1], 12.5)))) + 30;
const knobTicks = axis => axis.values.map((v, i) => [i, shorten(v, 18)]);
function roleOf(p, front) { return p !== DEF && (p === CHO || p === ALT) ? 4 : p === DEF ? 3 : p === REF ? 2 : front && front[p] ? 1 : 0; }

// The map
const POINTS = {}, key = vals => D.live.map(a => vals[a]).join();
D.vals.forEach((v, p) => {
	const k = key(v);
	if (!(p === REF && D.added.includes(p)) && (!(k in POINTS) || D.status[POINTS[k]] === 'd' && D.status[p] !== 'd')) POINTS[k] = p;
});
const pointAt = vals => POINTS[key(vals)] ?? -1;
function cellOf(p, k, asChange, lo, hi) {
	if (p < 0) return ['no', '·'];
	const s = {f: ['no', '✕'], n: ['no', '·'], s: ['sat', 'sat.'], i: ['sat', 'inc.']}[D.status[p]];
	if (s) return s;
	const v = value(p, k);
	if (!asChange) return nan(v) ? ['no', MISSING] : ['q' + (hi > lo ? min(6, floor((v - lo) / (hi - lo) * 7)) : 3), number(v, M[k].kind)];
	if (p === D.base[p]) return ['z', 'def.'];
	const t = moved(p, k);
	if (t === null) return ['no', MISSING];
	const n = min(5, floor(abs(t) / (300 / 5.5 / (M[k].pp ? 3 : 1)) + 0.5));
	const cls = !n ? 'z' : ((t < 0) === (M[k].dir > 0) ? 'w' : 'g') + n;
	return [cls + (sign(p, k) === '.' ? ' eq' : ''), M[k].pp && t && abs(t) < 100 ? change(t, '').slice(0, -1) : whole(t)];
}
function heat(view) {
	const x = D.axes[D.map[0]], y = D.axes[D.map[1]], nx = x.values.length, ny = y.values.length, k = view.metric;
	const s = {w: 620, left: ceil(max(0, ...y.values.map(v => width(shorten(v, 18), 12.5)))) + 32, top: 4};
	if (s.left + 4 + 36 * nx > s.w) s.w = min(s.left + 4 + 36 * nx, 1132);
	const z = zoomOf('heat', x.label), first = z ? floor(nx * z.from / 1000) : 0, end = z ? ceil(nx * z.to / 1000) : nx;
	s.cw = (s.w - s.left - 4) / (end - first);
	s.ch = ny <= 12 ? min(64, max(31, 160 / ny)) : ny <= 20 ? 25 : 18;
	const numbers = (end - first) * ny <= 400 && s.cw >= 28, bottom = s.top + ny * s.ch, c = new Canvas('heat', s.w, bottom + 44);
	let lo = Infinity, hi = -Infinity;
	for (let p = 0; p < D.ids.length; p++) if (ok(p) && !nan(value(p, k))) { lo = min(lo, value(p, k)); hi = max(hi, value(p, k)); }
	const held = [...view.held], frames = [], cells = [];
	for (let j = 0; j < ny; j++) for (let i = first; i < end; i++) {
		held[D.map[0]] = i; held[D.map[1]] = j;
		const p = pointAt(held);
		cells.push([p, ...cellOf(p, k, view.change, lo, hi), i, j]);
	}
	const short = !view.change && cells.some(q => width(q[2], 12) > s.cw - 3);
	for (const [p, cls, full, i, j] of cells) {
		const cx = s.left + (i - first) * s.cw, cy = s.top + (ny - 1 - j) * s.ch, text = short && cls[0] === 'q' ? compact(value(p, k)) : full;
		if (i === first) c.text('tk', 'end', s.left - 8, cy + s.ch / 2 + 4, 0, shorten(y.values[j], 18));
		c.group('c ' + cls, p < 0 ? {} : {'data-p': p}, () => {
			c.el('rect', '', {x: cx, y: cy, width: s.cw - 1, height: s.ch - 1, rx: 2});
			if (numbers && text && width(text, 12) <= s.cw - 1) c.text('', 'middle', cx + (s.cw - 1) / 2, cy + s.ch / 2 + 4, 0, text);
		});
		const f = p < 0 ? '' : p === CHO && p === DEF ? 'fc fd' : p === CHO || p === ALT ? 'fc' : p === DEF ? 'fd' : k === D.objective && D.tied[p] === '1' ? 'ft' : '';
		if (f) frames.push([f, cx, cy]);
		if (p === view.p && !f.includes('fc')) frames.push(['fs', cx, cy]);
	}
	for (const [cls, fx, fy] of frames) c.el('rect', cls, {x: fx + 1.5, y: fy + 1.5, width: s.cw - 4, height: s.ch - 4, rx: 2});
	let last = -Infinity;
	x.values.slice(first, end).forEach((v, i) => {
		const t = shorten(v, 18), p = s.left + (i + 0.5) * s.cw, w = width(t, 12.5);
		if (p - w / 2 < last + 4 || p + w / 2 > s.w + 2) return;
		c.text('tk', 'middle', p, bottom + 16, 0, t);
		last = p + w / 2;
	});
	c.svg.area = {l: s.left, r: s.w - 4, b: bottom};
	c.text('ax', 'middle', (s.left + s.w - 4) / 2, bottom + 36, 0, x.label);
	c.text('ax', 'middle', 13, (s.top + bottom) / 2, -90, labelIn(y.label, floor(max(8, (bottom - s.top) / 8))));
	return c.svg;
}

// Lines along a setting
function along(a, held, k) {
	const vals = [...held];
	return D.axes[a].values.map((_, i) => {
		vals[a] = i;
		const p = pointAt(vals);
		if (p < 0 || 'nf'.includes(D.status[p])) return {i, p: -1, v: NaN};
		const b = bounds(p, k);
		return {i, p, v: value(p, k), lo: b ? b[0] : NaN, hi: b ? b[1] : NaN, off: !ok(p)};
	});
}
function lines(o) {
	const c = new Canvas(o.id, o.w, o.h), seen = [];
	let off = false;
	for (const l of o.list) for (const s of l.samples) s.off ? off = true : seen.push(s.v, s.lo, s.hi);
	const [lo, hi] = o.fixed ? [0, 100] : span(seen);
	const keys = o.list.map(l => [l.line, l.name]);
	if (o.target) keys.push([-1, `target ${pretty(String(o.target))}${HARD}%`]);
	const top = (keys.length ? c.legend(44, o.w, keys) + 8 : 8) + (off ? 12 : 0);
	const ys = ticks({lo, hi}, 6), a = {l: left(ys), r: o.w - 12, t: top, b: o.h - 44}, y = scale(lo, hi, a.b, a.t);
	const at = c.zoom(a, o.axis.label, places(o.axis, a.l + 10, a.r - 10)), n = seen.filter((v, i) => i % 3 === 0 && !nan(v));
	if (!o.fixed && n.length > 1 && n.every(v => v === n[0])) c.text('tk', 'middle', (a.l + a.r) / 2, a.t + 14, 0, `all ${n.length} values identical`);
	c.frame(a, knobTicks(o.axis), i => at[i], y, ys, o.axis.label, o.title);
	for (const l of [...o.list].reverse()) {
		const good = l.samples.filter(s => !s.off && !nan(s.v));
		if (good.length > 1 && good.some(s => !nan(s.lo))) {
			const edge = up => good.map(s => [at[s.i], y.at(nan(s.lo) ? s.v : up ? s.hi : s.lo)]);
			c.curve('bd b' + l.line, path([...edge(true), ...edge(false).reverse()]) + 'Z');
		}
		c.curve('ln l' + l.line, path(l.samples.map(s => s.off ? [NaN, NaN] : [at[s.i], y.at(s.v)])));
		for (const s of l.samples.filter(s => c.shows(at[s.i])))
			if (s.off) c.el('path', 'off', {d: `M${px(at[s.i])} ${px(a.t - 11)}l5 9h-10z`, 'data-p': s.p});
			else if (!nan(s.v) && s.p >= 0) c.el('circle', 'dt d' + l.line, {cx: at[s.i], cy: y.at(s.v), r: 3.2, 'data-p': s.p});
	}
	if (o.target) c.line('slo', a.l, y.at(o.target), a.r, y.at(o.target));
	return c.svg;
}
const heldName = (a, held) => D.live.filter(b => b !== a && held[b] >= 0).map(b => D.axes[b].short + ' ' + shorten(D.axes[b].values[held[b]], 18)).join(', ');
const joined = (name, part) => part && name !== part ? (name ? `${name} (${part})` : part) : name;
function seriesOf(a, k, list) {
	const seen = new Set(), out = [];
	for (const [p, line, part] of list) {
		if (p < 0 || p === DEF && part === D.part) continue;
		const name = heldName(a, D.vals[p]);
		if (seen.has(name)) continue;
		seen.add(name);
		out.push({line, name: joined(name, part), samples: along(a, D.vals[p], k)});
	}
	return out;
}
// Where just the load was varied, there is a line for each value across.
function slice(view) {
	const a = view.along, k = view.metric, b = D.map.find(b => b !== a), across = D.axes[b].values, own = D.vals[DEF]?.[b];
	const picked = view.p === CHO || view.p === DEF ? [] : [[view.p, 3, 'selected']];
	return lines({id: 'slice', w: 486, h: 333, axis: D.axes[a], title: M[k].label, list: D.loads && across.length < 6 ? across.map((_, i) => {
		const held = Object.assign([...view.held], {[b]: i});
		return {line: i === own ? 0 : i < own ? i + 1 : i, name: heldName(a, held), samples: along(a, held, k)};
	}) : seriesOf(a, k, [...picked, [CHO, 1, D.part], [DEF, 0, 'default']])});
}
const LATENCIES = {ttft: 'TTFT', itl: 'ITL', tpot: 'TPOT', e2e: 'E2E'};
function family(id, k, view) {
	const f = M[k].family, several = f in LATENCIES;
	const metrics = several ? ['mean', 'p50', 'p90', 'p99'].map(s => metricAt(`${s}_${f}_ms`)) : [k];
	return lines({id, w: 553, h: 333, axis: D.axes[D.live[0]], title: several ? `${LATENCIES[f]} (${M[k].unit})` : M[k].label,
		list: metrics.map((q, i) => ({line: several ? [0, 2, 1, 3][i] : 1, name: M[q].title, samples: along(D.live[0], view.home, q)}))});
}
function rows(view) {
	const a = D.live[0], k = view.metric, c0 = along(a, view.home, k).filter(s => s.p >= 0 && !s.off && !nan(s.v));
	c0.sort((p, q) => (p.v - q.v) * (M[k].dir > 0 ? -1 : 1));
	const name = s => shorten(D.axes[a].values[s.i], 30), label = max(60, ...c0.map(s => width(name(s), 12.5)));
	const text = max(0, ...c0.map(s => width(full(s.p, k), 12.5))), c = new Canvas('rows', 620, 20 + 30 * c0.length + 46);
	const [lo, hi] = span(c0.flatMap(s => [s.v, s.lo, s.hi])), title = M[k].label + M[k].better;
	const b = {l: ceil(label) + 22, r: c.w - ceil(text) - 26, t: 8, b: c.h - 44}, x = c.zoom(b, title, scale(lo, hi, b.l, b.r)), ts = ticks(x, 5);
	for (const [v] of ts) c.line('gl', x.at(v), b.t, x.at(v), b.b);
	c.xAxis(b, ts, x.at, title);
	c0.forEach((s, i) => {
		const y = 24 + 30 * i;
		c.text('', 'end', x.a - 12, y + 4, 0, name(s));
		if (!nan(s.lo)) c.curve('ci', `M${px(x.at(s.lo))} ${px(y)}H${px(x.at(s.hi))}`);
		c.mark(roleOf(s.p), x.at(s.v), y, s.p);
		c.text('', 'end', c.w - 4, y + 4, 0, full(s.p, k));
	});
	return c.svg;
}

// Points in two metrics
function frontOf(x, y) {
	const can = p => D.status[p] === 'v' && !nan(value(p, x)) && !nan(value(p, y));
	const list = D.ids.map((_, p) => p).filter(can).sort((p, q) => value(p, x) - value(q, x) || value(p, y) - value(q, y));
	const front = {};
	let best = Infinity, bx = NaN;
	for (const p of list) {
		const v = value(p, y);
		if (v < best || v === best && value(p, x) === bx) { front[p] = true; best = v; bx = value(p, x); }
	}
	return front;
}
function dots(x, y, front) {
	const out = [];
	D.ids.forEach((_, p) => {
		if (D.status[p] === 'd' && p !== CHO || !ok(p) || nan(value(p, x)) || nan(value(p, y))) return;
		out.push({p, x: value(p, x), y: value(p, y), role: roleOf(p, front)});
	});
	return out.sort((a, b) => a.role - b.role);
}
const TRIES = [[11, -7, 'start'], [11, 15, 'start'], [-11, -7, 'end'], [-11, 15, 'end'], [0, -12, 'middle'], [0, 21, 'middle'], [13, 4, 'start'], [-13, 4, 'end'], [16, -22, 'start', 1], [-16, 30, 'end', 1],
	...[20, 28, 42, 58, 76, 96, 120].flatMap(d => [[8, -d, 'end', 1], [-8, -d, 'start', 1], [0, -d, 'middle', 1], [8, d + 8, 'end', 1], [-8, d + 8, 'start', 1],
		[d, 4 - d / 2, 'start', 1], [d, 4 + d / 2, 'start', 1], [-d, 4 - d / 2, 'end', 1], [-d, 4 + d / 2, 'end', 1], [d, 4, 'start', 1], [-d, 4, 'end', 1]])];
function scatter(o) {
	const c = new Canvas(o.id, o.w, o.h), front = o.front ? frontOf(o.x, o.y) : null, list = dots(o.x, o.y, front);
	let [x0, x1] = span(list.map(d => d.x)), [y0, y1] = span(list.map(d => d.y));
	if (o.front && list.length > 8) {
		let near = list.filter(d => d.role && d.role !== 2);
		if (!near.length) near = list;
		const [u0, u1] = span(near.map(d => d.x)), [v0, v1] = span(near.map(d => d.y)), dx = (u1 - u0) * 0.2, dy = (v1 - v0) * 0.2;
		x0 = max(x0, u0 - dx / 4); x1 = min(x1, u1 + dx); y0 = max(y0, v0 - dy / 4); y1 = min(y1, v1 + dy);
	}
	const yt = ticks({lo: y0, hi: y1}, 6), a = {l: left(yt), r: o.w - 12, t: 26, b: o.h - 44};
	const title = M[o.x].label + M[o.x].better, x = c.zoom(a, title, scale(x0, x1, a.l, a.r)), y = scale(y0, y1, a.b, a.t), narrow = o.w < 400;
	c.frame(a, ticks(x, narrow ? 4 : 6), x.at, y, yt, title, M[o.y].label + M[o.y].better);
	const inside = list.filter(d => d.x >= x.lo && d.x <= x.hi && d.y >= y0 && d.y <= y1), outside = list.length - inside.length;
	if (o.front) {
		const f = list.filter(d => front[d.p] && (c.clip || inside.includes(d))).sort((p, q) => p.x - q.x);
		if (f.length) {
			const steps = [[x.at(f[0].x), a.t], [x.at(f[0].x), y.at(f[0].y)]];
			for (let i = 1; i < f.length; i++) steps.push([x.at(f[i].x), y.at(f[i - 1].y)], [x.at(f[i].x), y.at(f[i].y)]);
			steps.push([a.r, y.at(f[f.length - 1].y)]);
			c.curve('front', path(steps));
		}
	}
	for (const d of inside) c.mark(d.role, x.at(d.x), y.at(d.y), d.p);
	if (outside) c.text('tk', 'end', a.r, 14, 0, outside + (narrow ? ' more' : outside === 1 ? ' further point lies' : ' further points lie') + ' outside' + (c.clip ? '' : ' ↗'));
	const taken = inside.map(d => { const r = d.role === 4 ? 9 : d.role ? 7 : 4; return [x.at(d.x) - r, y.at(d.y) - r, x.at(d.x) + r, y.at(d.y) + r]; });
	let named = 0;
	for (const d of [...inside].reverse()) {
		if (named >= 8) break;
		const name = shorten(D.names[d.p], 22);
		const text = d.role === 4 ? (d.p === ALT ? 'alternative' : D.part) + (o.names ? ' ' + name : '') : d.role === 3 ? 'default' : d.role === 2 ? shorten(name, 16) : d.role && o.names ? name : '';
		if (!text) continue;
		const w = width(text, 12.5);
		for (const [dx, dy, anchor, lead] of TRIES) {
			const tx = x.at(d.x) + dx, ty = y.at(d.y) + dy, l = tx - (anchor === 'middle' ? w / 2 : anchor === 'end' ? w : 0);
			const r = [l - 2, ty - 12, l + w + 2, ty + 4];
			if (r[0] < a.l + 2 || r[2] > c.w || r[1] < a.t - 8 || r[3] > a.b || taken.some(q => r[0] < q[2] && q[0] < r[2] && r[1] < q[3] && q[1] < r[3])) continue;
			taken.push(r);
			if (lead) {
				const u = x.at(d.x), v = y.at(d.y), tx = min(max(u, r[0]), r[2]), ty = min(max(v, r[1]), r[3]), far = Math.hypot(tx - u, ty - v);
				c.curve('ld', path([[u + (tx - u) / far * 8, v + (ty - v) / far * 8], [tx, ty]]));
			}
			c.text(d.role > 2 ? 'nm st' : 'nm', anchor, tx, ty, 0, text);
			named++;
			break;
		}
	}
	return c.svg;
}
function knob(a, k) {
	const axis = D.axes[a], c = new Canvas('knob' + a, 366, 250), list = dots(k, k).filter(d => D.vals[d.p][a] >= 0);
	const [lo, hi] = span(list.map(d => d.y)), yt = ticks({lo, hi}, 5), b = {l: left(yt), r: c.w - 10, t: 10, b: c.h - 44};
	const y = scale(lo, hi, b.b, b.t), zoom = x => c.zoom(b, axis.label, x), at = zoom(places(axis, b.l + 8, b.r - 8)), n = axis.values.length;
	let ts = knobTicks(axis), where = i => at[i];
	if (axis.numbers && n > 11 && !axis.log) { const x = zoom(scale(axis.numbers[0], axis.numbers[n - 1], b.l + 8, b.r - 8)); ts = ticks(x, 4); where = x.at; }
	c.frame(b, ts, where, y, yt, axis.label, M[k].label + M[k].better);
	const sorted = [...list].sort((p, q) => D.vals[p.p][a] - D.vals[q.p][a] || p.p - q.p), half = max(1, floor(list.length / 10)), mid = [];
	for (let i = half; i + half < sorted.length; i++) mid.push([at[D.vals[sorted[i].p][a]], y.at(sorted.slice(i - half, i + half + 1).map(d => d.y).sort((p, q) => p - q)[half])]);
	c.curve('ln l1', path(mid));
	for (const d of list) c.mark(d.role, at[D.vals[d.p][a]], y.at(d.y), d.p);
	return c.svg;
}

// Distributions
const SPREAD = ['ttft', 'tpot', 'e2e'];
function quantiles(p, k) {
	const steps = D.cdf[p]?.[k];
	let n = 0;
	return steps?.length ? steps.map(s => exp((n += s) / 2000)) : null;
}
function curves() {
	const out = [], seen = new Set();
	for (const [p, line] of [[CHO === DEF ? -1 : CHO, 1], [ALT, 3], [DEF, 0], [REF, 2]]) if (p >= 0 && !seen.has(p)) { seen.add(p); out.push([p, line]); }
	return out;
}
function cdf(k, extra) {
	const f = SPREAD[k], m = M[metricAt(`p90_${f}_ms`)], c = new Canvas('cdf' + k, 366, 250), list = curves();
	let lo = Infinity, hi = 0;
	for (const [p] of list) { const q = quantiles(p, k); if (q) { lo = min(lo, q[3]); hi = max(hi, q[q.length - 2]); } }
	if (!(lo <= hi)) return null;
	lo = max(lo, hi / 1e4);
	if (hi < lo * 1.02) { lo *= 0.98; hi *= 1.02; }
	const b = {l: 48, r: c.w - 10, t: 12, b: c.h - 44}, y = scale(0, 100, b.b, b.t), title = `${LATENCIES[f]} (${m.unit}), log scale`, x = c.zoom(b, title, scale(lo, hi, b.l, b.r, true));
	c.frame(b, ticks(x), x.at, y, [0, 25, 50, 75, 90, 100].map(v => [v, String(v)]), title, 'requests (%)');
	const s = D.bounds[k];
	if (s > x.lo && s < x.hi) {
		const text = 'SLO ' + pretty(String(s)) + HARD + m.unit, over = x.at(s) + 5 + width(text, 12.5) > b.r;
		c.line('slo', x.at(s), b.t, x.at(s), b.b);
		c.text('goal', over ? 'end' : 'start', x.at(s) + (over ? -5 : 5), s < quantiles(list[0][0], k)?.[D.shares.indexOf(0.5)] ? b.t + 13 : b.b - 8, 0, text);
	}
	if (extra >= 0 && !list.some(l => l[0] === extra)) list.push([extra, 4]);
	for (const [p, line] of [...list].reverse()) {
		const q = quantiles(p, k);
		if (q) c.curve('ln l' + line, path(q.map((v, i) => [v, D.shares[i]]).filter(v => v[0] >= lo * (1 - 1e-9) && v[0] <= hi * (1 + 1e-9)).map(v => [x.at(v[0]), y.at(v[1] * 100)])));
	}
	c.svg.cdf = {k, x, list: list.filter(l => quantiles(l[0], k))};
	return c.svg;
}
function goodput(view) {
	const k = metricAt('goodput_share');
	let a = -1;
	for (const b of D.live) if (D.axes[b].numbers && (a < 0 || D.axes[b].name === 'arrival-speedup-ratio')) a = b;
	const picked = [CHO, ALT, DEF].includes(view.p) ? [] : [[view.p, 4, 'selected']];
	const list = seriesOf(a, k, [[CHO, 1, D.part], [ALT, 3, 'alternative'], [DEF, 0, 'default'], ...picked]);
	const clamp = v => min(max(v, 0), 100);
	for (const l of list) for (const s of l.samples) { s.lo = clamp(s.lo); s.hi = clamp(s.hi); s.off = false; }
	return lines({id: 'goodput', w: 553, h: 372, axis: D.axes[a], title: 'goodput (% of requests)', fixed: true, target: D.target, list});
}
