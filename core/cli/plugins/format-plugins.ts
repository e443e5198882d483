import type { PluginListEntry } from '../client/plugin-list.js';
import { toPrintable } from '../output/escape.js';
import { formatTable, type TableColumn } from '../output/table.js';

const COLUMNS: readonly TableColumn[] = [
  { title: 'NAME' },
  { title: 'VERSION' },
  { title: 'STATE' },
  { title: 'INTEGRITY' },
  { title: 'KINDS' },
  { title: 'AUTHENTICATORS' },
  { title: 'SURFACES' },
];

/** One row per plugin, followed by its folder, unless it is shipped, and its problem. */
export function formatPlugins(plugins: readonly PluginListEntry[]): string {
  const [titles = '', ...rows] = formatTable(COLUMNS, plugins.map(formatRow));
  const lines = [titles];
  for (const [index, plugin] of plugins.entries()) {
    lines.push(rows[index] ?? '', ...formatDetails(plugin));
  }
  return `${lines.join('\n')}\n`;
}

function formatRow(plugin: PluginListEntry): string[] {
  const { name, version, state, integrity, kinds, authenticators, surfaces } = plugin;
  const cells = [
    name,
    version ?? '-',
    state,
    integrity,
    formatNames(kinds),
    formatNames(authenticators),
    formatNames(surfaces),
  ];
  return cells.map(toPrintable);
}

function formatNames(names: readonly string[]): string {
  return names.length === 0 ? '-' : names.join(' ');
}

function formatDetails({ origin, folder, reason, hint }: PluginListEntry): string[] {
  return [
    ...(origin === 'shipped' ? [] : [`  ${toPrintable(folder)}`]),
    ...(reason === null ? [] : [`  ${toPrintable(reason)}`]),
    ...(hint === null ? [] : [`  hint: ${toPrintable(hint)}`]),
  ];
}
