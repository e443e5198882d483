import { expect } from 'chai';
import { call } from '../../support/http/call.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { adapterSource, describeKind, writePlugin } from '../../support/isolation/write-plugin.js';
import { startHostProcess } from '../../support/start-host.js';
import { createFolder } from '../../support/temporary-folder.js';
import { use } from '../../support/use.js';

const CALLER = 'dev-service:tester:any.use';
const READER = 'dev-service:ops:modgate.metrics.read,modgate.modules.read';
const METRIC = 'modgate_acme_line_late_answers_total';

const ENTRY = adapterSource('acme-line', {
  open: `const late = context.counter('late_answers_total', 'Answers that came too late.');
    for (const [name, help] of config.further ?? []) context.counter(name, help);`,
  invoke: `late.add();
    late.add(2);
    try { late.add(-1); } catch (error) { if (!(error instanceof RangeError)) throw error; }`,
});

function createFurther(count: number): [string, string][] {
  return Array.from({ length: count }, (_, index) => [`n${index}_total`, 'One of many.']);
}

describe('counters of an adapter', () => {
  let folder = '';

  const host = use(() => {
    folder = createFolder();
    writePlugin(folder, { name: 'acme-line', entry: ENTRY });
    return startHostProcess({ args: ['--plugins', folder, '--workers', '2'] });
  });

  /** Calls that reached the adapter; a worker may begin to serve later than another. */
  let served = 0;
  const get = async (module: string) => {
    const response = await call(host, { target: `/modules/${module}/http/a`, as: CALLER });
    if (response.status === 200) served += 1;
    return response;
  };
  const scrape = async () => (await call(host, { target: '/metrics', as: READER })).body.toString();

  async function mount(module: string, further: readonly unknown[] = []): Promise<void> {
    const provider = { kind: 'acme-line', config: { further } };
    host.drop(`${module}.json`, describeKind(module, 'acme-line', { provider }));
    await waitUntil(module, async () => (await get(module)).status === 200);
  }

  async function reasonOf(module: string, further: readonly unknown[]): Promise<string | null> {
    const provider = { kind: 'acme-line', config: { further } };
    host.drop(`${module}.json`, describeKind(module, 'acme-line', { provider }));
    let reason: string | null = null;
    await waitUntil(module, async () => {
      const response = await call(host, { target: '/modules', as: READER });
      const { modules } = JSON.parse(response.body.toString()) as {
        modules: { name: string | null; state: string; reason: string | null }[];
      };
      const found = modules.find(({ name }) => name === module);
      reason = found?.reason ?? null;
      return found?.state === 'refused';
    });
    return reason;
  }

  it('are metrics of the module, summed over workers and kept over a reload', async () => {
    await mount('one');
    while (served < 20) await get('one');
    const expected = `${METRIC}{module="one"} ${3 * served}`;
    const before = await scrape();
    expect(before).to.include(`# HELP ${METRIC} Answers that came too late.`);
    expect(before).to.include(`# TYPE ${METRIC} counter`);
    expect(before.split('\n').filter((line) => line.startsWith(METRIC))).to.deep.equal([expected]);
    await mount('one', createFurther(15));
    await waitUntil('the counters of the new version', async () =>
      (await scrape()).includes('modgate_acme_line_n14_total{module="one"} 0'),
    );
    const value = Number(/late_answers_total\{module="one"\} (\d+)/.exec(await scrape())?.[1]);
    expect(value).to.be.at.least(3 * 20);
  });

  it('end with their module', async () => {
    await mount('gone');
    expect(await scrape()).to.include(`${METRIC}{module="gone"}`);
    host.remove('gone.json');
    await waitUntil('the end of the series', async () => !(await scrape()).includes('"gone"'));
  });

  it('are few, and have names and texts of one line', async () => {
    expect(await reasonOf('many', createFurther(16))).to.match(/more than 16 counters/);
    expect(await reasonOf('named', [['Late', 'A help.']])).to.match(/a name such as/);
    expect(await reasonOf('helped', [['late_total', 'two\nlines']])).to.match(
      /help text of 1 to 200/,
    );
  });
});
