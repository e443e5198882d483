const MODGATE = 'modgate';

/**
 * The results as markdown: one table a scenario.
 * @param {import('../run.mjs').Results} results
 */
export function formatResults({ machine, pace, start, scenarios }) {
  const placement = machine.isPinned ? 'host and load on separate cores' : 'not pinned';
  const measured =
    `Measured ${machine.at.slice(0, 10)}: Node ${machine.node}, ${machine.cores} × ${machine.cpu}, ` +
    `Linux ${machine.kernel}, load by ${machine.load}, ${placement}, ` +
    `${pace.rounds} rounds of ${pace.roundSeconds} s for each system, in turns. ` +
    '[Benchmarks](../benchmarks.md#method) explains the method.';
  return [
    '# Results of the request benchmarks',
    wrap(measured),
    ...(start === null ? [] : [wrap(formatStart(start))]),
    ...scenarios.map(formatScenario),
  ].join('\n\n');
}

function formatStart({ one, many, perModuleKib }) {
  return (
    `Start to \`listening\`: ${spread(one.startMs)} ms with 1 module, ${spread(many.startMs)} ms with ` +
    `${many.modules}. Resident and idle: ${spread(one.residentMib)} MiB with 1 module, ` +
    `${perModuleKib.toFixed(1)} KiB for each further one.`
  );
}

/** Wraps lines at 100 columns, as in all pages of docs/. */
function wrap(text) {
  return text.replace(/(?![^\n]{1,100}$)([^\n]{1,100})\s/g, '$1\n');
}

function formatScenario({ name, systems }) {
  // Otherwise the first one is modgate with other settings.
  const modgate = systems[MODGATE] ?? Object.values(systems)[0];
  const rows = Object.entries(systems).map(([system, figures]) => {
    const ratio = modgate.cpuMicroseconds.median / figures.cpuMicroseconds.median;
    return `| ${system}${figures.isSound ? '' : ` (${figures.failed} failed)`} | ${spread(figures.cpuMicroseconds)} | ${ratio.toFixed(2)} | ${spread(figures.requestsPerSecond)} | ${figures.p50Ms.median} | ${figures.p99Ms.median} | ${figures.peakMib.median} | ${percent(figures.hostShare.median)} | ${percent(figures.upstreamShare.median)} |`;
  });
  return [
    `## ${name}`,
    '',
    '| system | CPU µs per request | modgate / it | requests a second | p50 ms | p99 ms | peak MiB | its core | upstream |',
    '|---|---|---|---|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function spread({ median, min, max }) {
  return `${median} (${min} to ${max})`;
}

function percent(share) {
  return `${Math.round(share * 100)} %`;
}
