import { canonicalizeValue } from '../contract/canonical-value.js';
import type { Manifest } from '../contract/index.js';
import {
  createDiagnostic,
  createInvalidFile,
  type Diagnostic,
  type DocumentSource,
  describePath,
  InvalidFile,
  MAX_DIAGNOSTICS,
  type Path,
  sortDiagnostics,
  type Violation,
} from '../document/diagnostic.js';
import { copyPlainJson } from '../document/plain-json.js';
import { findNearestName } from '../document/suggest.js';
import { validateStruct } from '../document/validate.js';
import { digestText } from '../lib/hash.js';
import { findForeignOperations, omitAdapterOperations } from './adapter-operations.js';
import { validateConfigFields } from './config-rules.js';
import { validateExamples } from './example-rules.js';
import { manifestStruct } from './manifest-struct.js';
import {
  type AdapterLimits,
  describeRoute,
  findRouteWarnings,
  findStreamedRoutes,
  validateRoutes,
} from './route-rules.js';
import { findIndistinctAlternatives, findQueryWarnings, validateSchemas } from './schema-rules.js';
import { upgradeManifest } from './upgrade-manifest.js';
import { findDuplicates, nameOf, violationAt } from './violation-at.js';

interface ParsedManifest {
  /** A copy of the given manifest without defaults, and with its schemas of older drafts turned into 2020-12. */
  readonly manifest: Manifest;
  /** The given manifest, whose digest counts. The same as `manifest` without schemas of older drafts. */
  readonly written: unknown;
  readonly warnings: readonly Diagnostic[];
}

interface ParseOptions {
  /** Whether an example that violates its schema is an error. Default false. */
  readonly checksExamples?: boolean;
  /** The capabilities of the adapter. Default `null`: they are unknown. */
  readonly adapterLimits?: AdapterLimits | null;
  /** The kinds of providers whose adapters may have members in operations. Default: none. */
  readonly kinds?: readonly string[];
}

/**
 * Validates a manifest from any source.
 * @throws InvalidFile with all errors of the manifest.
 */
export function parseManifest(
  value: unknown,
  source: DocumentSource,
  { checksExamples = false, adapterLimits = null, kinds = [] }: ParseOptions = {},
): ParsedManifest {
  const { manifest, written, accepted, errors } = readManifest(value, kinds);
  if (errors.length > 0) throw createInvalidManifest(errors, accepted, source);
  const invalid = [
    ...(checksExamples ? validateExamples(manifest) : []),
    ...(adapterLimits === null ? [] : findUnsupported(manifest, adapterLimits)),
  ];
  if (invalid.length > 0) throw createInvalidFile(invalid, source);
  const warnings = [
    ...findRouteWarnings(manifest, adapterLimits),
    ...findQueryWarnings(manifest),
    ...findIndistinctAlternatives(manifest),
    ...findCapabilityWarnings(manifest),
  ].map((warning) => createDiagnostic(warning, source, 'warning'));
  return { manifest, written, warnings: sortDiagnostics(warnings) };
}

/** Finds parts of routes that providers of a kind cannot have. */
export function findUnsupported(manifest: Manifest, limits: AdapterLimits): Violation[] {
  return [...findStreamedRoutes(manifest, limits), ...findForeignOperations(manifest, limits.kind)];
}

interface ReadManifest {
  /** The manifest; valid only without errors. */
  readonly manifest: Manifest;
  /** The manifest before its schemas of older drafts were turned into 2020-12. */
  readonly written: unknown;
  /** The parts that the struct accepts. */
  readonly accepted: Partial<Manifest>;
  readonly errors: readonly Violation[];
}

/**
 * Validates a manifest, and lists all errors of the rules that a struct cannot express.
 * @param kinds of providers, whose adapters validate the members of operations with these names
 */
export function readManifest(value: unknown, kinds: readonly string[] = []): ReadManifest {
  const copy = copyPlainJson(value);
  // Uses the copy instead of the result of superstruct, because the digest covers the manifest as
  // written.
  const written = copy.value;
  const manifest = upgradeManifest(written) as Manifest;
  if (copy.violations.length > 0) {
    return { manifest, written, accepted: {}, errors: copy.violations };
  }
  const { violations, accepted } = validateStruct(
    omitAdapterOperations(manifest, kinds),
    manifestStruct,
  );
  const acceptedParts = (accepted ?? {}) as Partial<Manifest>;
  const errors = [...violations, ...validateRules(acceptedParts)];
  return { manifest, written, accepted: acceptedParts, errors };
}

/** Adds the warnings that the errors cannot have caused. */
function createInvalidManifest(
  errors: readonly Violation[],
  accepted: Partial<Manifest>,
  source: DocumentSource,
): InvalidFile {
  const { diagnostics } = createInvalidFile(errors, source);
  const warnings = findRouteWarnings(accepted).map((warning) =>
    createDiagnostic(warning, source, 'warning'),
  );
  // Errors come first, because the number of diagnostics is limited.
  const room = MAX_DIAGNOSTICS - diagnostics.length;
  return new InvalidFile(sortDiagnostics([...diagnostics, ...warnings.slice(0, room)]));
}

/**
 * Applies the rules that a struct cannot express to the accepted parts of a manifest. Rejected
 * items of lists are holes, which `flatMap` and `map` skip.
 */
function validateRules(manifest: Partial<Manifest>) {
  return [
    ...validateRoutes(manifest),
    ...validateSchemas(manifest),
    ...validateCapabilities(manifest),
    ...validateAdmin(manifest),
    ...validateConfigFields(manifest),
  ];
}

/**
 * The digest of a manifest as written, without defaults: `sha256:` and the hex SHA-256 of its RFC
 * 8785 form.
 */
export function manifestDigest(manifest: unknown): string {
  return digestText(canonicalizeValue(manifest));
}

/** Validates names within the admin data, slots and contributions. */
function validateAdmin(manifest: Partial<Manifest>): Violation[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  const entityPath = ['admin', 'entities'];
  const actionPath = ['admin', 'actions'];
  return [
    ...findDuplicates(entities, entityPath, nameOf, 'name'),
    ...findDuplicates(actions, actionPath, nameOf, 'name'),
    ...entities.flatMap(({ fields = [] }, index) =>
      findDuplicates(fields, [...entityPath, index, 'fields'], nameOf, 'name'),
    ),
    ...actions.flatMap(({ input_schema }, index) => {
      const path = [...actionPath, index, 'input_schema', 'fields'];
      return findDuplicates(input_schema?.fields ?? [], path, nameOf, 'name');
    }),
    ...findDuplicates(manifest.console_slots ?? [], ['console_slots'], ({ id }) => id, 'id'),
    ...validateContributions(manifest),
  ];
}

/** Checks only actions of this module: those of others are checked when all modules are known. */
function validateContributions(manifest: Partial<Manifest>): Violation[] {
  const { actions = [] } = manifest.admin ?? {};
  const names = new Set(actions.map(nameOf));
  // A contribution may name a rejected action.
  if (Object.keys(actions).length < actions.length) return [];
  return (manifest.console_contributions ?? []).flatMap(({ action }, index): Violation[] => {
    if (action.module !== manifest.module_id || names.has(action.name)) return [];
    const path = ['console_contributions', index, 'action', 'name'];
    return [violationAt(path, 'unknown-action', 'names an action that this module does not have')];
  });
}

interface CapabilityUse {
  readonly capability: string;
  readonly path: Path;
}

/** Requires that every capability of a route, entity, action or the configuration is declared. */
function validateCapabilities(manifest: Partial<Manifest>): Violation[] {
  const { capabilities } = manifest;
  if (capabilities === undefined) return [];
  const declared = new Set(capabilities);
  const unlisted = listUses(manifest).filter(({ capability }) => !declared.has(capability));
  return [
    ...findDuplicates(capabilities, ['capabilities'], String, ''),
    ...findReserved(capabilities),
    ...findPublicWithoutCapability(manifest),
    ...unlisted.map(({ capability, path }) => {
      const nearest = findNearestName(capability, Array.from(declared).filter(Boolean));
      const hint =
        nearest === null ? `add '${capability}' to 'capabilities'` : `did you mean '${nearest}'?`;
      const rest = `names the capability '${capability}', which 'capabilities' does not list`;
      return violationAt(path, 'unlisted-capability', rest, hint);
    }),
  ];
}

const RESERVED = /^(?:modgate\.|console\.admin$)/;

/** A module that declares a right of the host would learn which callers hold it. */
function findReserved(capabilities: readonly string[]): Violation[] {
  return capabilities.flatMap((capability, index): Violation[] => {
    if (!RESERVED.test(capability)) return [];
    const hint = 'choose a name that begins with the name of the module';
    return [
      violationAt(['capabilities', index], 'reserved-capability', 'is a right of the host', hint),
    ];
  });
}

/** A public route needs a capability, because a descriptor without `public` requires it. */
function findPublicWithoutCapability({ http_routes = [] }: Partial<Manifest>): Violation[] {
  return http_routes.flatMap(({ access, capability }, index): Violation[] => {
    if (access !== 'public' || capability !== undefined) return [];
    const rest = 'needs a capability besides: it counts where the descriptor is not public';
    const path = ['http_routes', index, 'access'];
    return [violationAt(path, 'public-without-capability', rest, "add a 'capability'")];
  });
}

function findCapabilityWarnings(manifest: Manifest): Violation[] {
  const open = manifest.http_routes.flatMap((route, index): Violation[] => {
    if (route.capability !== undefined) return [];
    const message = `${describeRoute(route, index)} has no capability, so it answers 403 to everybody`;
    const path = ['http_routes', index];
    const hint = "add a 'capability'";
    return [{ rule: 'route-without-capability', message, hint, path, at: 'value' }];
  });
  return [...open, ...findUnused(manifest), ...findConfigWarnings(manifest)];
}

/** The console of a module with slots may use any capability as its permission. */
function findUnused(manifest: Manifest): Violation[] {
  if (manifest.console_slots?.length) return [];
  const used = new Set(listUses(manifest).map(({ capability }) => capability));
  for (const contribution of manifest.console_contributions ?? []) {
    for (const capability of contribution.required_capabilities ?? []) used.add(capability);
  }
  return manifest.capabilities.flatMap((capability, index): Violation[] => {
    if (used.has(capability)) return [];
    const rest = 'is used by no route, entity, action, configuration or contribution';
    return [violationAt(['capabilities', index], 'unused-capability', rest)];
  });
}

/** Warns of fields that no console can read, and of a permission that writes values besides another use. */
function findConfigWarnings(manifest: Manifest): Violation[] {
  const { read_capability, write_capability, fields = [] } = manifest.config ?? {};
  if (fields.length > 0 && (read_capability ?? write_capability) === undefined) {
    const hint = "add 'read_capability' or 'write_capability'";
    return [
      violationAt(['config'], 'unreadable-config', 'has fields that no permission reads', hint),
    ];
  }
  const others = listUses(manifest).filter(
    ({ capability, path }) => capability === write_capability && path[0] !== 'config',
  );
  if (others.length === 0) return [];
  const names = others.map(({ path }) => describePath(path.slice(0, -1))).join(', ');
  const rest = `also opens ${names}, whose callers may then write configuration`;
  const hint = 'give the configuration a capability of its own';
  return [violationAt(['config', 'write_capability'], 'shared-write-capability', rest, hint)];
}

function listUses(manifest: Partial<Manifest>): CapabilityUse[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  const names = (['read_capability', 'write_capability'] as const).flatMap((name) => {
    const capability = manifest.config?.[name];
    return capability === undefined ? [] : [{ capability, path: ['config', name] }];
  });
  return [
    ...(manifest.http_routes ?? []).flatMap(({ capability }, index) =>
      capability === undefined ? [] : [{ capability, path: ['http_routes', index, 'capability'] }],
    ),
    ...entities.flatMap(({ read_capability }, index) => [
      { capability: read_capability, path: ['admin', 'entities', index, 'read_capability'] },
    ]),
    ...actions.flatMap(({ capability }, index) => [
      { capability, path: ['admin', 'actions', index, 'capability'] },
    ]),
    ...names,
  ];
}
