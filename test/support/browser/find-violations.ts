import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

interface AxeResult {
  readonly violations: readonly {
    readonly id: string;
    readonly nodes: readonly { readonly html: string }[];
  }[];
}

/** What the page violates of WCAG 2.2 AA, as axe sees it: the rule and the first element. */
export async function findAccessibilityViolations(page: Page): Promise<string[]> {
  // As an init script would: a script element is not allowed on the page.
  await page.evaluate(await readFile(AXE, 'utf8'));
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
  const { violations } = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(tags)} })`,
  )) as AxeResult;
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
}
