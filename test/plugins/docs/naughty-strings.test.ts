import { expect } from 'chai';
import { useBrowser } from '../../support/browser/browser.js';
import { call, parseJson } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import { useHost } from '../../support/http/use-host.js';
import { expectValidDocument } from '../../support/openapi/validate-document.js';
import { readOutside } from '../../support/outside.js';

interface Operation {
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
}

const STRINGS = readOutside<readonly string[]>('naughty-strings.json.gz');
/** The texts of each summary in the page, in order. */
const READ_SUMMARIES = `
  [...document.querySelectorAll('.operation > summary')].map((one) => [
    one.querySelector('.summary')?.textContent ?? '', one.querySelectorAll('.summary *').length,
  ])`;

describe('the big list of naughty strings in a manifest', () => {
  if (STRINGS === null) {
    it('is not run: its data was not found');
    return;
  }

  /** The page shows some routes of a larger module, and finds the others by its filter. */
  const ROUTES_SHOWN = 200;
  const nameOf = (index: number) => `shop${Math.floor(index / ROUTES_SHOWN)}`;
  const routes = STRINGS.map((text, index) => ({
    method: 'GET',
    path: `/${index}`,
    capability: 'shop.use',
    summary: text,
    description: text,
    tags: text === '' ? [] : [text],
  }));
  const names = [...new Set(STRINGS.map((_, index) => nameOf(index)))];
  const setup = useHost(({ url }) =>
    Object.fromEntries(
      names.map((name) => {
        const ownRoutes = routes.filter((_, index) => nameOf(index) === name);
        return [`${name}.json`, describeModule(name, url, ownRoutes)];
      }),
    ),
  );

  it('is shown by the OpenAPI document as it is', async () => {
    const response = await call(setup.host, { target: '/openapi.json' });
    const document = parseJson(response) as {
      readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
    };
    const expected = STRINGS.map(
      (_, index) => document.paths[`/modules/${nameOf(index)}/http/${index}`]?.get,
    );
    expect(expected.map((operation) => operation?.summary ?? '')).to.deep.equal(STRINGS);
    expect(expected.map((operation) => operation?.description ?? '')).to.deep.equal(STRINGS);
    const tagged = expected.map(
      (operation, index) => operation?.tags?.includes(STRINGS[index] ?? '') ?? false,
    );
    expect(STRINGS.filter((text, index) => text !== '' && !tagged[index])).to.deep.equal([]);
    await expectValidDocument(response.body.toString());
  });

  describe('in a browser', () => {
    const browser = useBrowser();

    it('is text of the docs page, and no markup', async () => {
      const watched = await browser.open(`${setup.host.url}/docs`);
      const { page } = watched;
      await page.getByLabel('Token').fill('dev-system:root');
      await page.getByRole('button', { name: 'Show' }).click();
      for (const name of names) {
        const module = page.locator(`.module[data-module="${name}"]`);
        await module.locator(':scope > summary').click();
        await module.locator('.operation').last().waitFor();
      }
      const summaries = (await page.evaluate(READ_SUMMARIES)) as [string, number][];
      expect(summaries.map(([text]) => text)).to.deep.equal(
        STRINGS.map((text) => (text === '' ? '' : ` ${text}`)),
      );
      expect(summaries.filter(([, elements]) => elements > 0)).to.deep.equal([]);
      expect(await watched.violations()).to.deep.equal([]);
      await watched.close();
    });
  });
});
