import { parseArgs } from 'node:util';
import { runSoak } from './run-soak.js';

/** `npm run soak -- --minutes N`: see docs/benchmarks.md. */
const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' } } });
const minutes = Number(values.minutes);
if (!(minutes > 0)) {
  console.error('--minutes must be a number above 0');
  process.exit(2);
}
const startedAt = performance.now();
const summary = await runSoak({
  seconds: minutes * 60,
  onProgress: (line) =>
    console.error(`${Math.round((performance.now() - startedAt) / 1000)} s: ${line}`),
});
console.log(JSON.stringify(summary, null, 2));
const { unexplained, disagreements, grown, left } = summary;
for (const [subject, findings] of Object.entries({ unexplained, disagreements, grown, left })) {
  console.error(
    `${subject}: ${findings.length === 0 ? 'none' : findings.slice(0, 10).join('\n  ')}`,
  );
  if (findings.length > 0) process.exitCode = 1;
}
