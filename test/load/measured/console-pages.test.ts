import { expect } from 'chai';
import { useBrowser } from '../../support/browser/browser.js';
import { OPS, signIn } from '../../support/console/console-client.js';
import { describeCrm } from '../../support/console/shop-modules.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

const RUNS = 3;
const CPU_THROTTLING = 4;
/** The aim is a second on an idle machine; a shared one takes up to three times as long. */
const MAX_PAINT_MS = 3000;

const READ_PAINT = `new Promise((resolve) => {
  let last = 0;
  new PerformanceObserver((list) => {
    for (const { startTime } of list.getEntries()) last = Math.max(last, startTime);
  }).observe({ type: 'largest-contentful-paint', buffered: true });
  setTimeout(() => resolve(last), 1500);
})`;

describe('the first view of the console', () => {
  const browser = useBrowser();
  let host: RunningHost;

  before(async () => {
    host = await startHost({ files: { 'crm.json': describeCrm('http://127.0.0.1:9') } });
  });
  after(() => host.stop());

  for (const path of ['/console', '/console/modules', '/console/modules/crm']) {
    it(`paints ${path} within ${MAX_PAINT_MS} ms on a CPU that is four times slower`, async () => {
      const paints: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        const watched = await browser.open(host.url + path, {
          cookie: await signIn(host, OPS),
          prepare: async (page) => {
            const session = await page.context().newCDPSession(page);
            await session.send('Emulation.setCPUThrottlingRate', { rate: CPU_THROTTLING });
          },
        });
        paints.push((await watched.page.evaluate(READ_PAINT)) as number);
        await watched.close();
      }
      paints.sort((a, b) => a - b);
      console.log(`      ms: ${paints.map(Math.round).join(', ')}`);
      expect(paints[0]).to.be.within(1, MAX_PAINT_MS);
    });
  }
});
