// What the tests ask of a page: expressions that list what is wrong.
(() => {
	const out = {};
	const shown = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && getComputedStyle(e).visibility !== 'hidden'; };
	// Texts of pictures that touch each other or leave their picture.
	out.texts = () => {
		const bad = [];
		for (const svg of document.querySelectorAll('figure svg.plot')) {
			if (!shown(svg)) continue;
			const area = svg.getBoundingClientRect(), list = [...svg.querySelectorAll('text')].filter(shown).map(e => [e.textContent, e.getBoundingClientRect()]);
			list.forEach(([text, r], i) => {
				if (r.left < area.left - 1 || r.right > area.right + 1 || r.top < area.top - 1 || r.bottom > area.bottom + 1) bad.push(`${svg.id}: "${text}" leaves the picture`);
				for (const [other, q] of list.slice(i + 1)) {
					const slack = 1.5 + 0.18 * Math.min(r.height, q.height, 20);
					if (r.left < q.right - 1 && q.left < r.right - 1 && r.top < q.bottom - slack && q.top < r.bottom - slack) bad.push(`${svg.id}: "${text}" touches "${other}"`);
				}
			});
		}
		if (document.documentElement.scrollWidth > innerWidth) bad.push(`the page is ${document.documentElement.scrollWidth} px wide, the window ${innerWidth}`);
		return bad;
	};
	// What goes beyond the window outside of what scrolls and shows it, and texts
	// that are cut.
	out.cuts = () => {
		const bad = new Set(), name = e => `${e.tagName}#${e.id}.${e.getAttribute('class') || ''} "${e.textContent.trim().slice(0, 30)}"`;
		const scrolls = e => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX) && e.scrollWidth > e.clientWidth + 1;
		const hints = e => getComputedStyle(e).backgroundAttachment.includes('local') || getComputedStyle(e).maskImage !== 'none' && (e.tagName === 'NAV' || getComputedStyle(e, '::before').content.includes('scrolls'));
		for (const e of document.querySelectorAll('body *')) {
			if (!shown(e) || e.closest('.vh,.skip,#tip,.defs')) continue;
			const r = e.getBoundingClientRect();
			if (scrolls(e) && !hints(e)) bad.add(`${name(e)} scrolls and does not show it`);
			if (r.right > innerWidth + 1 || r.left < -1) {
				let n = e.parentElement;
				while (n && !scrolls(n)) n = n.parentElement;
				if (!n) bad.add(`${name(e)} leaves the window`);
			}
			if (getComputedStyle(e).overflowX === 'hidden' && e.scrollWidth > e.clientWidth + 1) bad.add(`${name(e)} is cut`);
		}
		return [...bad];
	};
	// Labels of points that lie on a point.
	out.covers = () => {
		const bad = [];
		for (const svg of document.querySelectorAll('#pareto,#balance')) {
			const dots = [...svg.querySelectorAll('.m,.mf,.mr,.md,.mc')].map(e => [e.dataset.p, e.getBoundingClientRect()]);
			for (const t of svg.querySelectorAll('.nm')) {
				const r = t.getBoundingClientRect(), slack = 0.18 * r.height;
				for (const [p, q] of dots) if (r.left < q.right && q.left < r.right && r.top + slack < q.bottom && q.top < r.bottom - slack) bad.push(`${svg.id}: "${t.textContent}" lies on point ${p}`);
			}
		}
		return bad;
	};
	const rgb = s => { const m = s.match(/[\d.]+/g); return m && (m.length < 4 || +m[3] > 0) ? m.slice(0, 3).map(Number) : null; };
	const light = c => { const [r, g, b] = c.map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; }); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
	const ratio = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
	const ground = e => { for (let n = e; n; n = n.parentElement) { const c = rgb(getComputedStyle(n).backgroundColor); if (c) return c; } return [255, 255, 255]; };
	// Texts with less contrast than 4.5, and lines and marks with less than 3.
	out.contrast = () => {
		const bad = new Set();
		const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
		while (walk.nextNode()) {
			const e = walk.currentNode.parentElement;
			if (!walk.currentNode.textContent.trim() || !shown(e) || e.closest('script,style,#tip,[aria-hidden],option:disabled')) continue;
			const style = getComputedStyle(e), svg = e.closest('svg'), cell = e.closest('.c');
			const on = cell ? rgb(getComputedStyle(cell.querySelector('rect')).fill) || ground(svg) : ground(e);
			const r = ratio(rgb(svg ? style.fill : style.color), on);
			if (r < 4.5) bad.add(`${e.tagName}.${e.getAttribute('class')} "${e.textContent.slice(0, 30)}": ${r.toFixed(2)}`);
		}
		for (const e of document.querySelectorAll('figure .ln,figure .al,figure .slo,figure .front,figure .ci,figure .zero,figure .diag,figure .m,figure .mf,figure .mr,figure .wt,figure .wl,figure .pt')) {
			const s = getComputedStyle(e), c = rgb(s.stroke) || rgb(s.fill), r = c ? ratio(c, ground(e.closest('svg'))) : 0;
			if (r < 3) bad.add(`${e.tagName}.${e.getAttribute('class')}: ${r.toFixed(2)}`);
		}
		return [...bad];
	};
	// Everything drawn, with its place.
	out.drawn = () => {
		const list = {};
		for (const svg of document.querySelectorAll('figure svg.plot')) {
			list[svg.id] = [...svg.querySelectorAll('*')].filter(e => !e.closest('.ring,.cur,.fs')).map(e => {
				const b = e.getBBox();
				return [e.tagName, e.getAttribute('class') || '', e.tagName === 'text' ? e.textContent : '', e.dataset.p || '', b.x, b.y, b.width, b.height];
			});
		}
		return list;
	};
	window.check = out;
})();
