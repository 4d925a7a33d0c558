// Sorts tables, and shows the schedule step by step. The page is whole without it.
(() => {
  'use strict';

  const sortable = (table) => {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const value = (row, at) => {
      const cell = row.cells[at];
      const number = cell.dataset.v === undefined ? NaN : Number(cell.dataset.v);
      return { number, text: cell.textContent };
    };
    heads.forEach((head, at) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.textContent = head.textContent;
      head.textContent = '';
      head.append(button);
      button.addEventListener('click', () => {
        const numeric = head.classList.contains('n');
        const was = head.getAttribute('aria-sort');
        // Numbers first from large to small: the large ones are what one looks for.
        const up = was === null ? !numeric : was !== 'ascending';
        heads.forEach((other) => other.removeAttribute('aria-sort'));
        head.setAttribute('aria-sort', up ? 'ascending' : 'descending');
        const order = [...body.rows].map((row) => [value(row, at), row]);
        order.sort(([a], [b]) => {
          if (Number.isNaN(a.number) !== Number.isNaN(b.number)) return Number.isNaN(a.number) ? 1 : -1;
          const less = Number.isNaN(a.number)
            ? a.text.localeCompare(b.text, 'en', { numeric: true })
            : a.number - b.number;
          return up ? less : -less;
        });
        body.append(...order.map(([, row]) => row));
      });
    });
  };

  // As the program draws it.
  const arrow = (x1, y1, x2, y2) => {
    const length = Math.max(Math.hypot(x2 - x1, y2 - y1), 1e-9);
    const [dx, dy] = [((x2 - x1) / length) * 7, ((y2 - y1) / length) * 7];
    const points = [x1, y1, x2, y2, x2 - dx - dy / 2, y2 - dy + dx / 2, x2, y2, x2 - dx + dy / 2, y2 - dy - dx / 2];
    const [a, b, c, d, e, f, g, h, i, j] = points.map((point) => point.toFixed(1));
    return `M${a} ${b}L${c} ${d}M${e} ${f}L${g} ${h}L${i} ${j}`;
  };

  const time = (ns) => {
    const unit = [[1e9, 's'], [1e6, 'ms'], [1e3, 'us'], [1, 'ns']].find(([of]) => ns >= of) || [1, 'ns'];
    return `${Number((ns / unit[0]).toFixed(3))} ${unit[1]}`;
  };

  const schedule = () => {
    const form = document.getElementById('controls');
    const steps = document.getElementById('steps');
    if (!form || !steps) return;
    const svg = steps.querySelector('svg');
    const detail = document.getElementById('detail');
    const position = document.getElementById('position');
    const fields = form.elements;
    const [left, right, end] = ['left', 'right', 'end'].map((name) => Number(svg.dataset[name]));
    const rounds = Number(fields.at.max);
    const chunks = (text) => text.split(' ').filter(Boolean).map((run) => run.split('-').map(Number));
    const items = [...svg.querySelectorAll('g.m')].map((g) => {
      const path = g.querySelector('path');
      const title = g.querySelector('title');
      // Thin lines are hard to meet: an unseen one around each.
      const around = path.cloneNode();
      around.classList.add('around');
      g.insertBefore(around, path);
      const drawn = path.getAttribute('d');
      const numbers = drawn.match(/-?[\d.]+/g).map(Number);
      const times = (g.dataset.t || '').split(',').filter(Boolean).map(Number);
      return {
        g, path, around, drawn, numbers, times,
        own: g.classList.contains('own'),
        text: title.textContent,
        round: Number(g.dataset.r), src: g.dataset.s, dst: g.dataset.d, channel: g.dataset.h,
        chunks: chunks(g.dataset.c),
      };
    });

    const isTimed = () => fields.axis && fields.axis.value === 'time';
    const x = (ns) => left + ((right - left) * ns) / (end || 1);
    const place = () => {
      for (const item of items) {
        if (!isTimed() || item.times.length < 2) {
          item.path.setAttribute('d', item.drawn);
        } else if (item.own) {
          item.path.setAttribute('d', `M${x(item.times[0]).toFixed(1)} ${item.numbers[1]}h5v5h-5z`);
        } else {
          const [, y1, , y2] = item.numbers;
          item.path.setAttribute('d', arrow(x(item.times[0]), y1, x(item.times[1]), y2));
        }
        item.around.setAttribute('d', item.path.getAttribute('d'));
      }
    };

    const show = () => {
      const at = Number(fields.at.value);
      const timed = isTimed();
      const now = timed ? (end * at) / 100 : at;
      if (at === 0) position.textContent = timed ? 'all of the time' : 'all rounds';
      else position.textContent = timed ? `at ${time(now)}` : `round ${at} of ${rounds}`;
      const [rank, channel, chunk] = ['rank', 'channel', 'chunk'].map((name) => fields[name].value);
      for (const item of items) {
        const fits =
          (rank === '' || item.src === rank || item.dst === rank) &&
          (channel === '' || item.channel === channel) &&
          (chunk === '' || item.chunks.some(([a, b = a]) => a <= Number(chunk) && Number(chunk) <= b));
        let past = false;
        let future = false;
        if (at > 0 && timed && item.times.length === 2) {
          past = item.times[1] < now;
          future = item.times[0] > now;
        } else if (at > 0 && !timed) {
          past = item.round < at;
          future = item.round > at;
        }
        item.g.classList.toggle('off', !fits);
        item.g.classList.toggle('past', past);
        item.g.classList.toggle('future', future);
      }
    };

    const axis = () => {
      const timed = isTimed();
      steps.classList.toggle('in-rounds', !timed);
      steps.classList.toggle('in-time', timed);
      fields.at.max = timed ? 100 : rounds;
      fields.at.value = 0;
      place();
      show();
    };

    const colour = () => {
      for (const name of ['kind', 'chunk', 'channel', 'line']) {
        steps.classList.toggle(`by-${name}`, fields.colour.value === name);
        const legend = document.querySelector(`.of-${name}`);
        if (legend) legend.classList.toggle('chosen', fields.colour.value === name);
      }
    };

    let timer = 0;
    const stop = () => {
      clearInterval(timer);
      timer = 0;
      fields.play.textContent = 'Play';
    };
    const play = () => {
      if (timer) return stop();
      fields.play.textContent = 'Stop';
      if (fields.at.value === fields.at.max) fields.at.value = 0;
      const advance = () => {
        fields.at.value = Number(fields.at.value) + 1;
        show();
        if (fields.at.value === fields.at.max) stop();
      };
      timer = setInterval(advance, isTimed() ? 80 : 600);
      advance();
      return undefined;
    };

    // What an arrow is, below the picture; and where its chunks go.
    const point = (item) => {
      detail.textContent = item ? item.text : 'Point at an arrow to see what it is.';
      const first = item && item.chunks.length ? item.chunks[0][0] : null;
      for (const other of items) {
        const same = first !== null && other.chunks.some(([a, b = a]) => a <= first && first <= b);
        other.g.classList.toggle('same', same);
      }
      steps.classList.toggle('pointed', first !== null);
    };
    for (const item of items) {
      item.g.addEventListener('pointerenter', () => point(item));
      item.g.addEventListener('pointerleave', () => point(null));
    }

    fields.at.addEventListener('input', () => { stop(); show(); });
    fields.play.addEventListener('click', play);
    if (fields.axis) fields.axis.addEventListener('change', () => { stop(); axis(); });
    fields.colour.addEventListener('change', colour);
    for (const name of ['rank', 'channel', 'chunk']) fields[name].addEventListener('change', show);
    form.addEventListener('submit', (event) => event.preventDefault());
    form.reset();
    form.hidden = false;
    if (rounds === 0) fields.play.disabled = fields.at.disabled = true;
    colour();
    axis();
    point(null);
  };

  document.querySelectorAll('table.sortable').forEach(sortable);
  schedule();
})();
