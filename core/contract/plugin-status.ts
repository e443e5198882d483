import { array, enums, nullable, string, type } from 'superstruct';
import { type Answer, member } from './members.js';

const pluginStatus = type({
  name: member(string(), 'of its `plugin.json`'),
  version: member(nullable(string()), 'of its `plugin.json`; `null` if that is not valid'),
  origin: member(string(), '`shipped`, or where its folder was named'),
  folder: member(string(), 'its folder'),
  kinds: member(array(string()), 'the kinds of providers that it serves'),
  authenticators: member(array(string()), 'the authenticators that it has'),
  surfaces: member(array(string()), 'the surfaces that it has'),
  signers: member(array(string()), 'the signers that it has'),
  importers: member(array(string()), 'the importers that it has'),
  state: member(
    enums(['known', 'loaded', 'faulted', 'refused']),
    '`known`: its `plugin.json` is valid, none of its code has run; `loaded`: imported; `faulted`: imported, then an error was not caught that belongs to no module; `refused`: cannot be used',
  ),
  stage: member(nullable(string()), 'the step at which it was rejected'),
  integrity: member(
    enums(['off', 'unchecked', 'verified', 'unverified', 'failed']),
    '`off`: by policy, or for a shipped plugin; `unchecked`: not used yet; `verified`: its files match its digests; `unverified`: there are no digests to compare with; `failed`: its files do not match',
  ),
  reason: member(nullable(string()), 'of the state'),
  hint: member(nullable(string()), 'what to do'),
});

const surfaceStatus = type({
  name: member(string(), 'of the surface'),
  plugin: member(nullable(string()), 'its plugin; `null` if its code has not been loaded'),
  prefix: member(nullable(string()), 'the first segment of its paths'),
  state: member(
    enums(['open', 'failed', 'off']),
    '`open`: it serves; `failed`: it could not be loaded or opened; `off`: the setting does not enable it',
  ),
  reason: member(nullable(string()), 'of the state'),
});

/** The response to `GET /plugins`. */
export const pluginList = type({
  plugins: member(array(pluginStatus), 'in the order of their discovery'),
  surfaces: member(array(surfaceStatus), 'by name'),
});

/** A plugin for operators. */
export type PluginStatus = Answer<typeof pluginStatus>;

/** A surface for operators. */
export type SurfaceStatus = Answer<typeof surfaceStatus>;
