import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { startEchoProvider } from '../support/echo-provider.js';
import { waitUntil } from '../support/http/wait-until.js';
import { startOtlpReceiver } from '../support/observability/otlp-receiver.js';
import {
  callItem,
  spansOf,
  startTracedProcess,
  traceparent,
} from '../support/observability/traced-host.js';
import { createFolder } from '../support/temporary-folder.js';
import { use } from '../support/use.js';

const PRELOAD = new URL('../support/isolation/injected-faults.js', import.meta.url).href;
const FAULTS = [
  'export of spans throws',
  'export of spans rejects',
  'export of spans throws later',
] as const;

describe('a host whose trace exporter fails unexpectedly', () => {
  const folder = createFolder();
  const control = join(folder, 'fault');
  const receiver = use(startOtlpReceiver);
  const provider = use(startEchoProvider);
  const host = use(() =>
    startTracedProcess(provider.url, {
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      // An export that does not report its end holds the next one back for this long.
      OTEL_BSP_EXPORT_TIMEOUT: '100',
      INJECTED_FAULT: control,
      NODE_OPTIONS: `--import ${PRELOAD}`,
    }),
  );

  const readFired = () =>
    existsSync(`${control}.fired`) ? readFileSync(`${control}.fired`, 'utf8').split('\n') : [];

  for (const [index, fault] of FAULTS.entries()) {
    it(`serves, and exports again later: ${fault}`, async () => {
      writeFileSync(control, fault);
      await waitUntil('exports have failed', async () => {
        expect((await callItem(host)).status).to.equal(200);
        return readFired().filter((fired) => fired === fault).length > 1;
      });
      writeFileSync(control, '');
      const traceId = String(index + 1).repeat(32);
      await waitUntil('the span', async () => {
        expect((await callItem(host, [traceparent(traceId)])).status).to.equal(200);
        return spansOf(receiver, traceId).length > 0;
      });
    });
  }

  it('logs the loss once a minute, without what was thrown', () => {
    const lost = host.logs().filter(({ msg }) => String(msg).startsWith('traces lost'));
    expect(lost).to.have.length(1);
    expect(host.output()).to.not.include('injected fault');
  });
});
