const MODGATE = 'modgate';

/**
 * The results as markdown: one table a scenario.
 * @param {import('./run.mjs').Results} results
 */
export function formatResults({ machine, pace, start, scenarios }) {
  return [
    `Measured ${machine.at.slice(0, 10)}: Node ${machine.node}, ${machine.cores} × ${machine.cpu}, Linux ${machine.kernel}, load by ${machine.load}, ${
      machine.isPinned ? 'host and load on cores of their own' : 'not pinned'
    }, ${pace.rounds} rounds of ${pace.roundSeconds} s a system, in turns.`,
    ...(start === null ? [] : [formatStart(start)]),
    ...scenarios.map(formatScenario),
  ].join('\n\n');
}

function formatStart({ one, many, perModuleKib }) {
  return `Start to \`listening\`: ${spread(one.startMs)} ms with 1 module, ${spread(many.startMs)} ms with ${many.modules}. Resident and idle: ${spread(one.residentMib)} MiB with 1 module, ${perModuleKib.toFixed(1)} KiB a further one.`;
}

function formatScenario({ name, systems }) {
  const modgate = systems[MODGATE];
  const rows = Object.entries(systems).map(([system, figures]) => {
    const ratio = modgate.cpuMicroseconds.median / figures.cpuMicroseconds.median;
    return `| ${system}${figures.isSound ? '' : ` (${figures.failed} failed)`} | ${spread(figures.cpuMicroseconds)} | ${ratio.toFixed(2)} | ${spread(figures.requestsPerSecond)} | ${figures.p50Ms.median} | ${figures.p99Ms.median} | ${figures.peakMib.median} | ${percent(figures.hostShare.median)} | ${percent(figures.upstreamShare.median)} |`;
  });
  return [
    `### ${name}`,
    '',
    '| system | CPU µs a request | modgate / it | requests a second | p50 ms | p99 ms | peak MiB | its core | upstream |',
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
