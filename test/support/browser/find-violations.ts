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

const TRANSITIONS_END = `Promise.allSettled(
  document.getAnimations().filter((animation) => animation instanceof CSSTransition).map((animation) => animation.finished),
)`;
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

/**
 * Lists violations of WCAG 2.2 AA on a page, found by axe: the rule and the first element. @param
 * rules only these, such as those that a change of colors can break
 */
export async function findAccessibilityViolations(
  page: Page,
  rules: readonly string[] = [],
): Promise<string[]> {
  // A color in transition has another contrast.
  await page.evaluate(TRANSITIONS_END);
  // As an init script would: a script element is not allowed on the page.
  if (!(await page.evaluate(`'axe' in window`))) await page.evaluate(await readFile(AXE, 'utf8'));
  const runOnly = rules.length === 0 ? WCAG : { type: 'rule', values: rules };
  const { violations } = (await page.evaluate(
    `axe.run({ runOnly: ${JSON.stringify(runOnly)}, resultTypes: ['violations'] })`,
  )) as AxeResult;
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html ?? ''}`);
}
