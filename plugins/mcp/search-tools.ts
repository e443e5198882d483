import { escapeLine } from '../../core/contract/index.js';
import { forEachInSlices } from '../shared/slices.js';
import type { CatalogEntry } from './catalog.js';
import { describeTarget } from './describe-tool.js';
import { divide, scoreOf } from './search-words.js';
import { shorten } from './shorten.js';

export const MAX_FOUND = 20;
const MAX_SUMMARY = 200;
const MAX_MODULES = 50;
const MAX_WORDS = 16;

interface FoundTools {
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  /** The modules with tools, if no tool was found. */
  readonly modules?: readonly { readonly name: string; readonly summary: string }[];
}

/**
 * Finds the tools with the most matching words; words in names count most. Returns all tools if
 * there is no word.
 */
export async function searchTools(
  entries: readonly CatalogEntry[],
  query: string,
): Promise<FoundTools> {
  const words = divide(query).slice(0, MAX_WORDS);
  const isEmpty = query.trim() === '';
  const found: { readonly entry: CatalogEntry; readonly score: number }[] = [];
  await forEachInSlices(entries, (entry) => {
    const score = isEmpty ? 1 : scoreOf(entry.tools.listSearchWords(entry), words);
    if (score > 0) found.push({ entry, score });
    return true;
  });
  const tools = found
    .sort((a, b) => b.score - a.score)
    .slice(0, MAX_FOUND)
    .map(({ entry }) => ({ name: entry.name, description: describeTarget(entry, MAX_SUMMARY) }));
  return tools.length > 0 || entries.length === 0
    ? { tools }
    : { tools, modules: listModules(entries) };
}

/** The modules with their own words, so that another search can name one. */
function listModules(entries: readonly CatalogEntry[]): NonNullable<FoundTools['modules']> {
  const summaries = new Map(
    entries.map(({ module, manifest: { summary = '' } }) => [
      module,
      shorten(escapeLine(shorten(summary, MAX_SUMMARY)), MAX_SUMMARY),
    ]),
  );
  return [...summaries].slice(0, MAX_MODULES).map(([name, summary]) => ({ name, summary }));
}
