import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { canLimitProcesses } from '../support/chaos/process-limits.js';

const SUBJECT = fileURLToPath(new URL('../../core/manifest/parse-thread.js', import.meta.url));
/** Leaves only stdin, stdout and stderr; a thread needs files of its own. */
const NO_THREAD = `execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=3:']);`;

describe('parseManifestText', () => {
  it('parses long manifests on a system without room for a thread, and says so once', function () {
    if (!canLimitProcesses()) this.skip();
    const { routes, warnings } = parseTwice(NO_THREAD);
    expect(routes).to.deep.equal([1000, 1000]);
    expect(warnings).to.deep.equal([['m.json', 'manifest parsed without a thread']]);
  });

  it('reports nothing if there is room', () => {
    expect(parseTwice('')).to.deep.equal({ routes: [1000, 1000], warnings: [] });
  });
});

/** Parses in a separate process, after `first` has run there. */
function parseTwice(first: string) {
  const script = `
    const { execFileSync } = require('node:child_process');
    const http_routes = Array.from({ length: 1000 }, (_, at) =>
      ({ method: 'GET', path: '/items/' + at, capability: 'm.use' }));
    const manifest = { protocol: 'modgate.manifest.v1', module_id: 'acme/m', version: '1.0.0',
      capabilities: ['m.use'], http_routes };
    const text = { file: 'm.json', text: JSON.stringify(manifest), format: 'json',
      hasPlaces: true, checksExamples: false, adapterLimits: null };
    const [routes, warnings] = [[], []];
    const log = { warn: ({ file, err }, message) => {
      if (err instanceof Error) warnings.push([file, message]);
    } };
    import(${JSON.stringify(SUBJECT)}).then(async ({ parseManifestText }) => {
      ${first}
      for (let count = 0; count < 2; count += 1) {
        const parsed = await parseManifestText(text, log);
        routes.push(parsed.manifest.http_routes.length);
      }
      console.log(JSON.stringify({ routes, warnings }));
      process.exit();
    });`;
  return JSON.parse(execFileSync(process.execPath, ['--eval', script], { encoding: 'utf8' }));
}
