import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  FIND_INJECTED,
  FIND_WIDE,
  HOSTILE_TEXT,
  HOSTILE_TEXTS,
  makeHostile,
} from '../../../support/console/hostile-texts.js';
import {
  CRM_MANIFEST,
  describe as describeGranted,
} from '../../../support/console/shop-modules.js';
import { type ConsoleSetup, untilLoaded } from '../../../support/console/use-console.js';

const TABS = ['Routes', 'Endpoints', 'Data', 'Actions', 'Configuration', 'Manifest', 'Descriptor'];
const PAGES = ['', '/modules', '/calls', '/audit', '/api', '/plugins', '/explain'];

/** Members of a manifest that the host checks, or that connect its parts. */
const MANIFEST_KEPT = new Set([
  ...[
    'protocol',
    'module_id',
    'capability',
    'capabilities',
    'read_capability',
    'write_capability',
    'method',
    'path',
  ],
  ...['kind', 'type', 'danger_level', 'list_path', 'invoke_path', 'service', 'id'],
]);
/** Members of answers that decide what a page shows at all. */
const ANSWER_KEPT = new Set([
  ...['name', 'module_id', 'state', 'kind', 'type', 'actor', 'scopes', 'ui_digest', 'grants', 'ui'],
  ...[
    'release',
    'capability',
    'capabilities',
    'read_capability',
    'write_capability',
    'at',
    'since',
    'openapi',
    'in',
  ],
  ...['$ref', 'required', 'check', 'outcome', 'digest', 'danger_level', 'value_type', 'created_at'],
  ...['expires_at', 'started_at', 'boot', 'nextCursor', 'next_cursor', 'required_capabilities'],
]);

/** The same in answers of the bridge. */
const BRIDGE_KEPT = new Set([
  ...['nextCursor', 'value_type', 'kind', 'service', 'key', 'moduleName', 'actionName'],
]);

export function describeInjection(setup: ConsoleSetup): void {
  describe('a text of a module', () => {
    /** Narrow, so that a long word that does not break is found too. */
    const visit = async (page: Page, path: string) => {
      const go = `history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`;
      await page.evaluate(`${go}; dispatchEvent(new PopStateEvent('popstate'))`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await untilLoaded(page);
      expect(await page.evaluate(FIND_INJECTED), path).to.deep.equal([]);
      expect(await page.evaluate(FIND_WIDE), path).to.deep.equal([]);
    };
    const narrow = { viewport: { width: 360, height: 800 } };

    it('is text on every page, whatever a manifest and a provider send', async () => {
      const manifest = makeHostile(CRM_MANIFEST, MANIFEST_KEPT) as { admin: { actions: object[] } };
      const hostile = { ...manifest, module_id: 'acme/hostile' };
      const grants = ['crm.read', 'crm.write', 'crm.config'];
      setup.drop('hostile.json', describeGranted('hostile', setup.provider.url, hostile, grants));
      const page = await setup.open('/console/modules', narrow);
      await page.getByRole('link', { name: 'hostile', exact: true }).waitFor();
      for (const tab of TABS) await visit(page, `/modules/hostile?tab=${tab}`);
      await visit(page, '/modules/hostile?tab=Data');
      const column = page.getByRole('columnheader', { name: HOSTILE_TEXTS[0] ?? '' });
      await column.first().waitFor();
      await visit(page, '/api');
      const action = `refresh ${HOSTILE_TEXT}`;
      await visit(page, `/modules/hostile?tab=Actions&action=${encodeURIComponent(action)}`);
      setup.drop('hostile.json', null);
      await page.getByText('There is no module of this name').waitFor();
    });

    it('is text in records, results and Problems', async () => {
      const page = await setup.open('/console', {
        ...narrow,
        prepare: (target) => answerHostile(target, '**/console-bridge/*', BRIDGE_KEPT),
      });
      await visit(page, '/modules/crm?tab=Data');
      await page
        .getByRole('cell', { name: HOSTILE_TEXTS[0] ?? '' })
        .first()
        .waitFor();
      await page.getByRole('row').nth(1).getByRole('button').click();
      await visit(page, '/modules/crm?tab=Actions&action=refresh');
      await page.getByRole('button', { name: 'Refresh the index' }).click();
      await page
        .getByText(HOSTILE_TEXTS[0] ?? '')
        .first()
        .waitFor();
      expect(await page.evaluate(FIND_INJECTED)).to.deep.equal([]);
      await visit(page, '/modules/crm?tab=Actions&action=break');
      await page.getByRole('button', { name: 'Break' }).click();
      await page
        .getByRole('alert')
        .getByText(HOSTILE_TEXTS[0] ?? '')
        .first()
        .waitFor();
      expect(await page.evaluate(FIND_INJECTED)).to.deep.equal([]);
    });

    it('is text on every page, even if the host did not check it', async () => {
      const page = await setup.open('/console', {
        ...narrow,
        prepare: (target) =>
          answerHostile(target, /\/console\/api\/(?!session|events|sign-in)/, ANSWER_KEPT),
      });
      for (const path of PAGES) await visit(page, path);
      for (const tab of [...TABS, 'Grants']) await visit(page, `/modules/crm?tab=${tab}`);
      const explained = '/explain?method=GET&target=/modules/crm/http/contacts';
      await visit(page, explained);
    });

    it('is text in the address of the page', async () => {
      const page = await setup.open('/console', narrow);
      for (const text of HOSTILE_TEXTS.filter((line) => !line.startsWith('//'))) {
        await visit(page, `/modules/${encodeURIComponent(text)}`);
      }
      const encoded = encodeURIComponent(HOSTILE_TEXT.slice(0, 1000));
      await visit(page, `/calls?module=${encoded}&call=${encoded}`);
      await visit(page, `/explain?method=${encoded}&target=${encoded}&sign_in=${encoded}`);
    });
  });
}

/** Passes answers on with every text replaced. */
async function answerHostile(page: Page, url: string | RegExp, unchanged: ReadonlySet<string>) {
  await page.route(url, async (route) => {
    const response = await route.fetch();
    const isJson = response.headers()['content-type']?.includes('json') === true;
    if (!isJson) return route.fulfill({ response });
    const json = makeHostile(await response.json(), unchanged);
    await route.fulfill({ response, json });
  });
}
