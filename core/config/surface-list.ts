import { resolve } from 'node:path';
import { isMapping, readMember } from '../lib/read-member.js';
import { PART_NAME } from './plugin-list.js';
import type { SettingKind } from './setting-kind.js';

export interface SurfaceChoice {
  readonly name: string;
  readonly enabled: boolean;
  /** The config without `enabled`; the surface validates it. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Relative paths in the config start here. */
  readonly directory: string;
}

/** The surfaces that are on unless the setting switches them off. */
const DEFAULT_SURFACES = ['console', 'docs'] as const;

/** Names that are switched on, or off with a minus; in a configuration file by name, with a config. */
export const surfaceList: SettingKind<readonly SurfaceChoice[]> = {
  placeholder: 'names',
  expected:
    'names of surfaces, such as mcp,-docs, or in a file a mapping such as {mcp: {enabled: true}}',
  fileType: 'string',
  parse: (text, directory) => {
    const choices = text.split(',').map((entry) => parseName(entry, directory));
    return distinct(choices);
  },
  parseValue: (value, directory) => {
    if (!isMapping(value)) return undefined;
    return distinct(
      Object.entries(value).map(([name, entry]) => parseEntry(name, entry, directory)),
    );
  },
};

function parseName(entry: string, directory: string): SurfaceChoice | null {
  const enabled = !entry.startsWith('-');
  const name = enabled ? entry : entry.slice(1);
  return PART_NAME.test(name) ? { name, enabled, config: {}, directory: resolve(directory) } : null;
}

function parseEntry(name: string, entry: unknown, directory: string): SurfaceChoice | null {
  if (!PART_NAME.test(name) || !isMapping(entry)) {
    return null;
  }
  const isDefault = DEFAULT_SURFACES.some((surface) => surface === name);
  const enabled = readMember(entry, 'enabled') ?? isDefault;
  if (typeof enabled !== 'boolean') return null;
  const { enabled: _switch, ...config } = entry as Record<string, unknown>;
  return { name, enabled, config, directory: resolve(directory) };
}

function distinct(
  choices: readonly (SurfaceChoice | null)[],
): readonly SurfaceChoice[] | undefined {
  if (!choices.every((choice) => choice !== null)) return undefined;
  return new Set(choices.map(({ name }) => name)).size === choices.length ? choices : undefined;
}

/**
 * Lists the surfaces that are on: the default ones, and those of the setting.
 * @param installed limits the default surfaces to these
 */
export function listEnabledSurfaces(
  configured: readonly SurfaceChoice[] | null,
  installed: readonly string[],
): readonly SurfaceChoice[] {
  const choices = configured ?? [];
  const defaults = DEFAULT_SURFACES.filter(
    (name) => installed.includes(name) && !choices.some((choice) => choice.name === name),
  );
  const all = [
    ...defaults.map((name) => ({ name, enabled: true, config: {}, directory: resolve('.') })),
    ...choices,
  ];
  return all.filter(({ enabled }) => enabled);
}
