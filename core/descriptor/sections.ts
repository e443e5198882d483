import { type Infer, literal, object } from 'superstruct';
import { described, optionally } from '../contract/described.js';
import { shareDefaults } from '../document/read-valid.js';
import type { AnySection, FurtherProviderRules, Section } from './section.js';
import { allow, callers, publicRoutes } from './sections/access.js';
import { breaker } from './sections/breaker.js';
import { cache } from './sections/cache.js';
import { candidate } from './sections/candidate.js';
import { consoleSection } from './sections/console.js';
import { forwardClient, forwardHeaders } from './sections/forward-headers.js';
import { identity } from './sections/identity.js';
import { limits } from './sections/limits.js';
import { manifest, manifestDigest } from './sections/manifest.js';
import { mcp } from './sections/mcp.js';
import { enabled, module } from './sections/module.js';
import { mount } from './sections/mount.js';
import { owner } from './sections/owner.js';
import { probation } from './sections/probation.js';
import { provider } from './sections/provider.js';
import { rate } from './sections/rate.js';
import { records } from './sections/records.js';
import { providerErrors, responses } from './sections/responses.js';
import { retry } from './sections/retry.js';
import { schemas } from './sections/schemas.js';

/** All that a descriptor says of a module, in the order of its reference. */
const SECTIONS = {
  module,
  owner,
  enabled,
  provider,
  manifest,
  manifest_digest: manifestDigest,
  limits,
  rate,
  identity,
  callers,
  allow,
  public: publicRoutes,
  mount,
  forward_headers: forwardHeaders,
  forward_client: forwardClient,
  responses,
  provider_errors: providerErrors,
  cache,
  retry,
  breaker,
  records,
  probation,
  candidate,
  schemas,
  console: consoleSection,
  mcp,
};

type Sections = typeof SECTIONS;

type SectionName = keyof Sections;

export const LISTED_SECTIONS = Object.entries(SECTIONS) as readonly (readonly [
  name: SectionName,
  section: AnySection,
])[];

/** The sections that open a provider beside the live one, by name. */
export const FURTHER_PROVIDERS: ReadonlyMap<string, FurtherProviderRules> = new Map(
  LISTED_SECTIONS.flatMap(([name, { further }]) => (further ? [[name, further]] : [])),
);

type Structs = { readonly [Name in SectionName]: Sections[Name]['struct'] };

/** The one declaration of a descriptor: its members, defaults, bounds, units and descriptions. */
export const descriptorStruct = shareDefaults(
  described(
    object({
      apiVersion: optionally(literal('modgate/v1'), { description: 'Version of this format.' }),
      ...(Object.fromEntries(
        LISTED_SECTIONS.map(([name, { struct }]) => [name, struct]),
      ) as Structs),
    }),
    {
      title: 'modgate descriptor',
      description: 'One module that the host serves: a YAML or JSON file of the modules folder.',
    },
  ),
);

/** A descriptor as written, with its defaults. */
export type WireDescriptor = Infer<typeof descriptorStruct>;

type Whole<Name extends SectionName> =
  Sections[Name] extends Section<infer _Value, infer Whole, infer _Shown> ? Whole : never;

/** The values of all sections, with the defaults that depend on other members. */
export type SectionValues = {
  readonly [Name in keyof Omit<WireDescriptor, 'apiVersion'>]: Whole<Name>;
};

type Shown<Name extends SectionName> =
  Sections[Name] extends Section<infer _Value, infer _Whole, infer Shown>
    ? Exclude<Shown, undefined | false>
    : never;

/** What `GET /modules` shows of all sections. */
export type ShownMembers = {
  readonly [Name in SectionName as Shown<Name> extends never ? never : Name]?: Shown<Name>;
};
