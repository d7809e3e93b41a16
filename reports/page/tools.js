// What is done with single pictures: zooming their x axes, and taking them away.
const plotOf = e => e.closest('figure').querySelector('.plot');
const zoomable = svg => svg && /^(heat|slice|line|rows|knob|pareto|balance|goodput|cdf)/.test(svg.id);
// The script knows the areas of pictures that it has drawn.
const areaOf = svg => zoomable(svg) && (svg.area || (redraw(), svg.area));
const partOf = svg => zooms[svg.id] || {from: 0, to: 1000};
// The place of a picture in px, in thousandths of its axis.
const share = (svg, x) => { const {l, r} = svg.area, {from, to} = partOf(svg); return from + (x - l) / (r - l) * (to - from); };
function zoomTo(svg, p, q) { setZoom(svg.id, round(max(0, min(p, q))), round(min(1000, max(p, q)))); set({}); }
// Shows so many times what is shown, around a place.
function zoomBy(svg, x, times) {
	const {from, to} = partOf(svg), w = (to - from) * times, p = max(0, min(1000 - w, share(svg, x) - w / 2));
	zoomTo(svg, p, p + w);
}
// Dragging over a picture picks a part while its button is down, a double click
// below its axis halves what is shown. The wheel is left to the page.
let drag = null;
function drags(svg) {
	svg.onpointerdown = e => {
		drag = svg.classList.contains('pick') && areaOf(svg) ? {from: where(svg, e).x} : null;
		if (drag) svg.setPointerCapture(e.pointerId);
	};
	svg.onpointerup = e => {
		const to = where(svg, e).x;
		all('.band', svg).forEach(e => e.remove());
		if (drag && abs(to - drag.from) > 5) { drag.over = true; zoomTo(svg, share(svg, drag.from), share(svg, to)); } else drag = null;
	};
	svg.ondblclick = e => { const at = where(svg, e); if (areaOf(svg) && at.y > svg.area.b) zoomBy(svg, at.x, 0.5); };
}
function band(svg, x) {
	const {l, r, b} = svg.area, [p, q] = [drag.from, x].map(v => min(r, max(l, v)));
	all('.band', svg).forEach(e => e.remove());
	el(svg, 'rect', 'band', {x: min(p, q), y: 0, width: abs(p - q), height: b});
}

// A picture in light colours, with its heading, that needs nothing of the page.
const KEPT = ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'stroke-linecap', 'stroke-linejoin', 'opacity', 'font-family', 'font-size', 'font-weight', 'paint-order'];
function wrap(text, most) {
	const out = [];
	let line = '';
	for (const word of text.split(/\s+/)) {
		const longer = line ? line + ' ' + word : word;
		if (line && width(longer, 12.5) > most) { out.push(line); line = word; } else line = longer;
	}
	return [...out, line];
}
function picture(svg) {
	areaOf(svg);
	const box = svg.closest('figure'), of = (e, what) => e.querySelector(what)?.textContent, w = svg.viewBox.baseVal.width;
	const c = new Canvas('', w, 0), keys = new Canvas('', w, 0), theme = root.dataset.theme, ground = c.el('rect', 'bg', {width: w});
	let y = 4;
	const say = (cls, text) => { if (text) for (const line of wrap(text, w - 16)) c.text(cls, 'start', 8, y += 17, 0, line); };
	const put = (list, high) => { c.el('g', '', {transform: `translate(0 ${y += 8})`}).append(...list); y += high; };
	say('st', of(box, 'b') || of(box.parentNode, 'h2'));
	say('tk', of(box, '.fn') || of(box.parentNode, '.note'));
	if (svg.id === 'heat') say('tk', `Thick frame: ${D.part}. Dotted: ${of(document, '.k-tie')}. Dashed: default.`);
	if (svg.cdf) { const high = keys.legend(8, w, svg.cdf.list.map(([p, line]) => [line, p === REF ? D.names[p] : pointName(p)])); put(keys.svg.childNodes, high); }
	put(svg.cloneNode(true).childNodes, svg.viewBox.baseVal.height);
	say('tk', all('.meta span').map(e => e.textContent).join(' · '));
	all('.ring,.cur,.fs,.band', c.svg).forEach(e => e.remove());
	if (c.svg.querySelector('.sat')) c.svg.append(document.querySelector('.defs defs').cloneNode(true));
	for (const [e, high] of [[c.svg, y += 10], [ground, y]]) e.setAttribute('height', y);
	c.svg.setAttribute('viewBox', `0 0 ${w} ${y}`);
	root.dataset.theme = 'light';
	svg.after(c.svg);
	inline(c.svg, {});
	c.svg.remove();
	if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
	return c.svg;
}
// Writes what the page's style says of an element into it, where it differs from
// what it inherits.
function inline(e, above) {
	const s = getComputedStyle(e), own = {};
	for (const k of KEPT) if ((own[k] = s.getPropertyValue(k)) !== above[k]) e.style.setProperty(k, own[k]);
	// What is inside is styled by the class, too.
	for (const child of e.children) inline(child, {...own, opacity: '1'});
	e.removeAttribute('class');
}
async function take(button) {
	const svg = picture(plotOf(button)), canvas = document.createElement('canvas'), image = new Image();
	const save = (href, end) => { const a = document.createElement('a'); a.href = href; a.download = 'routesim-' + button.closest('figure').id.replace('box-', '') + end; a.click(); said(button, 'Saved'); };
	image.src = 'data:image/svg+xml,' + encodeURIComponent(new XMLSerializer().serializeToString(svg));
	if (button.dataset.pic === 'svg') return save(image.src, '.svg');
	canvas.width = 2 * svg.viewBox.baseVal.width; canvas.height = 2 * svg.viewBox.baseVal.height;
	const drawn = image.decode().then(() => canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height));
	const png = drawn.then(() => new Promise(done => canvas.toBlob(done)));
	try { await navigator.clipboard.write([new ClipboardItem({'image/png': png})]); said(button, 'Copied'); }
	catch { await drawn; save(canvas.toDataURL(), '.png'); }
}
