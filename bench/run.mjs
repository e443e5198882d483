// The whole bench: node bench/run.mjs [folder of the build, default dist] [--rounds N] [--seconds N]
// [--warm-up SECONDS] [--only TEXT in the scenario's name] [--without-start] [--brief]. Leaves docs/bench/results.json, results.md and results.svg;
// with --only it prints and leaves nothing.
import { mkdirSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeMachine, formatMachine } from './parts/machine.mjs';
import { measureScenario } from './parts/measure-scenario.mjs';
import { pinSelf } from './parts/pinned-process.mjs';
import { drawChart } from './parts/results-chart.mjs';
import { formatResults } from './parts/results-table.mjs';
import { listScenarios } from './parts/scenarios.mjs';
import { measureStart } from './parts/start-figures.mjs';

/**
 * @typedef {object} Results
 * @property {ReturnType<typeof describeMachine>} machine
 * @property {import('./parts/measure-scenario.mjs').Pace} pace
 * @property {Awaited<ReturnType<typeof measureStart>> | null} start
 * @property {Awaited<ReturnType<typeof measureScenario>>[]} scenarios
 */

const OUTPUT = new URL('../docs/bench/', import.meta.url);
const CHARTED = [
  'GET 100 B, 32 connections',
  'GET 64 KiB, 32 connections',
  'POST 1 KiB, 32 connections',
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    'warm-up': { type: 'string', default: '6' },
    only: { type: 'string' },
    'without-start': { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
  },
});
const print = (line) => process.stdout.write(`${line}\n`);
const [dist = 'dist'] = positionals;
const pace = {
  rounds: Number(values.rounds),
  roundSeconds: Number(values.seconds),
  warmUpSeconds: Number(values['warm-up']),
};

pinSelf();
const machine = describeMachine();
print(formatMachine(machine));
const isWhole = values.only === undefined;
const start =
  isWhole && !values['without-start'] ? await measureStart({ dist, report: print }) : null;
/** @type {Results} */
const results = { machine, pace, start, scenarios: [] };
for (const scenario of listScenarios(values.brief).filter(({ name }) => name.includes(values.only ?? ''))) {
  try {
    results.scenarios.push(await measureScenario(scenario, { dist, pace, report: print }));
  } catch (error) {
    print(`${scenario.name} WAS NOT MEASURED: ${error.message}`);
    process.exitCode = 1;
  }
  // Written after each scenario, so that a stopped run keeps its figures.
  if (isWhole) writeResults(results);
}
print(`\n${formatResults(results)}`);

/** @param {Results} results */
function writeResults(results) {
  mkdirSync(OUTPUT, { recursive: true });
  writeFileSync(new URL('results.json', OUTPUT), `${JSON.stringify(results)}\n`);
  writeFileSync(new URL('results.md', OUTPUT), `${formatResults(results)}\n`);
  const charted = results.scenarios.filter(({ name }) => CHARTED.includes(name));
  writeFileSync(new URL('results.svg', OUTPUT), drawChart(charted));
}
