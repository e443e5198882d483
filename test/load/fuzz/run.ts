import { parseArgs } from 'node:util';
import { fuzzRequests } from './fuzz-requests.js';
import { startFuzzHost } from './fuzz-target.js';
import { fuzzTexts } from './fuzz-texts.js';

const DEFAULT_SECONDS = 60;

/** `npm run fuzz -- --seconds N [--seed S]`: half of the time texts, half requests. Exits with 1 at the first failure. */
const { values } = parseArgs({
  options: { seconds: { type: 'string' }, seed: { type: 'string' } },
});
const seconds = readNumber('seconds', values.seconds) ?? DEFAULT_SECONDS;
const seed = readNumber('seed', values.seed) ?? Date.now() % 0x7fffffff;
const fuzzing = { seconds: seconds / 2, seed };
console.log(`seed ${seed}, ${seconds} s`);
try {
  console.log(`${await fuzzTexts(fuzzing)} texts`);
  const host = await startFuzzHost();
  try {
    const { connections, statuses } = await fuzzRequests(fuzzing, host);
    const counts = [...statuses].sort().map(([status, count]) => `${status}: ${count}`);
    console.log(`${connections} connections; answers ${counts.join(', ')}`);
    const exit = await host.host.stop();
    if (exit.code !== 0) throw new Error(`the host ended with ${exit.code ?? exit.signal}`);
  } finally {
    await host.close();
  }
} catch (error) {
  console.error((error as Error).message);
  console.error(`failed: npm run fuzz -- --seconds ${seconds} --seed ${seed}`);
  process.exitCode = 1;
}

function readNumber(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value < 0x7fffffff) return value;
  console.error(`--${name} must be a whole number`);
  process.exit(2);
}
