import { forEachInSlices } from '../shared/slices.js';
import type { CatalogEntry } from './catalog.js';
import type { DescribedTool } from './describe-tool.js';

const MAX_TOOLS = 1000;
const MAX_BYTES = 1_048_576;

interface ToolPage {
  readonly tools: readonly DescribedTool[];
  /** The name of its last tool; absent on the last page. */
  readonly nextCursor?: string;
}

export function describeEntry(entry: CatalogEntry): DescribedTool {
  return { name: entry.name, ...entry.tools.describe(entry).tool };
}

/**
 * Describes the tools after the one that the cursor names.
 * @returns `null` for a cursor that names none of them.
 */
export async function listToolPage(
  entries: readonly CatalogEntry[],
  cursor: string | undefined,
): Promise<ToolPage | null> {
  const start = entries.findIndex(({ name }) => name === cursor) + 1;
  if (cursor !== undefined && start === 0) return null;
  const tools: DescribedTool[] = [];
  let bytes = 0;
  await forEachInSlices(entries.slice(start, start + MAX_TOOLS), (entry) => {
    bytes += entry.tools.describe(entry).bytes + entry.name.length;
    if (bytes > MAX_BYTES && tools.length > 0) return false;
    tools.push(describeEntry(entry));
    return true;
  });
  const last = tools.at(-1);
  return start + tools.length < entries.length && last !== undefined
    ? { tools, nextCursor: last.name }
    : { tools };
}
