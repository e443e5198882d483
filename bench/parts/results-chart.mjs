const WIDTH = 760;
const LABEL_WIDTH = 190;
const FIGURE_WIDTH = 90;
const BAR_HEIGHT = 18;
const ROW_HEIGHT = 24;
const TITLE_HEIGHT = 34;
const BAR_ROOM = WIDTH - LABEL_WIDTH - FIGURE_WIDTH;

/**
 * CPU time a request, a group of bars a scenario, shorter is better; the thin line is the spread.
 * @param {readonly { name: string, systems: Record<string, any> }[]} scenarios
 */
export function drawChart(scenarios) {
  const parts = [];
  let y = 0;
  for (const { name, systems } of scenarios) {
    const rows = Object.entries(systems).filter(([system]) => system !== 'direct');
    const longest = Math.max(...rows.map(([, { cpuMicroseconds }]) => cpuMicroseconds.max));
    parts.push(
      `<text x="0" y="${y + TITLE_HEIGHT - 12}" font-weight="bold">${name}: CPU µs a request</text>`,
    );
    y += TITLE_HEIGHT;
    for (const [system, { cpuMicroseconds }] of rows) {
      parts.push(drawBar(system, cpuMicroseconds, y, BAR_ROOM / longest));
      y += ROW_HEIGHT;
    }
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${y + 8}" viewBox="0 0 ${WIDTH} ${y + 8}" font-family="sans-serif" font-size="13">
<rect width="100%" height="100%" fill="white"/>
${parts.join('\n')}
</svg>
`;
}

function drawBar(system, { median, min, max }, y, scale) {
  const middle = y + BAR_HEIGHT / 2;
  const at = (value) => (LABEL_WIDTH + value * scale).toFixed(1);
  const colour = system.startsWith('modgate') ? '#2563eb' : '#9ca3af';
  return `<text x="${LABEL_WIDTH - 8}" y="${middle + 5}" text-anchor="end">${system}</text>
<rect x="${LABEL_WIDTH}" y="${y}" width="${(median * scale).toFixed(1)}" height="${BAR_HEIGHT}" fill="${colour}"/>
<line x1="${at(min)}" x2="${at(max)}" y1="${middle}" y2="${middle}" stroke="black"/>
<text x="${WIDTH - 4}" y="${middle + 5}" text-anchor="end">${median}</text>`;
}
