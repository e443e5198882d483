import { expect } from 'chai';
import { textOf } from '../../../core/testkit/adapter-harness.js';
import {
  adapterSuite,
  createFakeOpenContext,
  createInvocation,
  REFERENCE_SECRET,
} from '../../../core/testkit/index.js';
import { waitUntil } from '../http/wait-until.js';
import { sideBySide } from '../side-by-side.js';
import { type RunningHost, startHost } from '../start-host.js';
import { rawModeSuite } from './raw-mode-suite.js';
import { SHIPPED } from './shipped-subjects.js';
import { startReference } from './start-reference.js';
import { callThroughHost } from './through-host.js';

/** Runs the subjects of these kinds through a host. Each kind has a test file, so that they run in parallel. */
export function throughHostSuite(...kinds: readonly string[]): void {
  const subjects = SHIPPED.filter(({ adapter }) => kinds.includes(adapter.kind));
  describe(`through a running host: ${kinds.join(', ')}`, () => {
    let host: RunningHost;

    before(async () => {
      const name = REFERENCE_SECRET.reference.slice('env:'.length);
      host = await startHost({ env: { [name]: REFERENCE_SECRET.value } });
    });

    after(async () => {
      const output = host.output();
      await host.stop();
      expect(output)
        .to.match(/reference-\d/)
        .and.not.include(REFERENCE_SECRET.value);
    });

    for (const subject of subjects) {
      adapterSuite(
        callThroughHost(subject, () => host),
        sideBySide(),
      );
      rawModeSuite(subject, () => host);

      if (subject.adapter.supports.configure !== true) continue;

      it(`delivers the configuration over ${subject.adapter.kind}`, async () => {
        const through = callThroughHost(subject, () => host);
        const { adapter } = through;
        const reference = await startReference(through);
        const context = createFakeOpenContext();
        const provider = await adapter.open(reference.config, context);
        const readConfig = async () => {
          return textOf(await provider.invoke(createInvocation({ target: '/config' })));
        };
        let delivered = '';
        await waitUntil('the configuration', async () => {
          delivered = await readConfig();
          return delivered !== '';
        });
        await context.scope.close();
        await reference.stop();
        expect(JSON.parse(delivered)).to.deep.equal({
          revision: 0,
          values: { 'reference/size': 1 },
        });
      });
    }
  });
}
