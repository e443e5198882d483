import type { Struct } from 'superstruct';
import type { AnyStruct } from '../contract/described.js';
import type { ConfigDescription, ProviderAdapter } from '../contract/index.js';
import type { Violation } from '../document/diagnostic.js';
import type { References, ReferencesInput } from '../document/references.js';

export type ReadonlyDeep<T> = unknown extends T
  ? T
  : { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> };

/** The part of a ProviderAdapter that the validation of a descriptor needs. */
export interface DescriptorAdapter
  extends Pick<ProviderAdapter, 'kind' | 'supports' | 'describeConfig' | 'checkDescriptor'> {
  readonly config: AnyStruct;
}

/** The part of a SignerFactory that the validation of a descriptor needs. */
export interface DescriptorSigner {
  readonly config: AnyStruct;
}

/** The first segments of paths that belong to the host and its surfaces, such as `/metrics`. */
export interface ReservedPrefixes {
  /** Complete once `load` has resolved. */
  readonly current: ReadonlySet<string>;
  load(): Promise<ReadonlySet<string>>;
}

/** What rules of descriptors need to know of the host. */
export interface HostFacts {
  /** The headers that hold credentials of callers, in lower case: a descriptor must not forward them. */
  readonly credentialHeaders?: readonly string[];
  /** Prefixes that no mount may have. Default: none. */
  readonly reservedPrefixes?: ReservedPrefixes;
  /** Whether the host has what rates over all hosts need. Default: not checked. */
  readonly canShareRates?: boolean;
}

export interface SectionContext extends HostFacts {
  /** The whole descriptor as written. */
  readonly written: unknown;
  /** `null` for an unknown kind of provider. */
  readonly adapter: DescriptorAdapter | null;
  /** The config of the live provider with the defaults of the adapter's struct. */
  readonly config: unknown;
  /** What the adapter says of it; `null` for an invalid one. */
  readonly live: ConfigDescription | null;
}

/** What the adapter says of the configs of a descriptor. */
export interface DescribedProviders {
  /** `null` for an adapter that does not describe its configs. */
  readonly configDescription: ConfigDescription | null;
  /** The providers that sections open beside the live one. */
  readonly furtherProviders: readonly FurtherProvider[];
}

/** A provider that a section opens beside the live one, by the same adapter. */
export interface FurtherProvider {
  /** The section, which is also the name of its folder. */
  readonly section: string;
  /** The members of the config that differ from those of the live provider. */
  readonly changes: Readonly<Record<string, unknown>>;
  readonly config: unknown;
  /** What the adapter says of it. */
  readonly description: ConfigDescription | null;
  /** Where its calls go: origins, or the file that lists them. */
  readonly destinations: readonly string[];
}

/** A further provider that can be opened. */
export interface PreparedProvider extends Pick<FurtherProvider, 'section' | 'config'> {
  readonly references: References;
}

export interface FilesContext extends Pick<SectionContext, 'config' | 'live'> {
  readonly adapter: ProviderAdapter;
  /** Those of the live provider. */
  readonly references: References;
  /** How to read the files that the descriptor names. */
  readonly files: Pick<ReferencesInput, 'baseDir' | 'source' | 'allowsReference' | 'limits'>;
}

export interface ReadDocuments extends Pick<References, 'document'> {
  readonly warnings: readonly Violation[];
}

export interface FurtherProviderRules {
  /** Called for every descriptor with the section and a known adapter. The provider is `null` for an invalid one. */
  check(context: SectionContext & { readonly adapter: DescriptorAdapter }): {
    readonly violations: readonly Violation[];
    readonly provider: FurtherProvider | null;
  };
  /**
   * Reads the documents that the changes name.
   * @throws InvalidFile for an unusable one.
   */
  read(provider: FurtherProvider, context: FilesContext): Promise<ReadDocuments>;
}

/** The parts of a value that its struct accepts: a rejected optional member is absent, a rejected item is a hole. */
type Accepted<Value> = Value extends readonly (infer Item)[] ? readonly Item[] : Partial<Value>;

/** The part of a section that `GET /modules` shows. */
interface ShownPart<Whole, Shown> {
  /** The served version, or the file, which may be newer. */
  readonly of: 'served' | 'file';
  /** Absent from the answer if it is `undefined` or `false`. */
  read(value: NonNullable<Whole>, descriptor: object): Shown;
}

/** All that a descriptor says about one of its members. `core/descriptor/sections.ts` lists them. */
export interface Section<Value, Whole, Shown> {
  /** Members, defaults, bounds, units and descriptions: types, schema and reference follow. */
  // biome-ignore lint/suspicious/noExplicitAny: structs of any schema are treated alike
  readonly struct: Struct<Value, any>;
  /** Finds errors that the struct cannot express. */
  validate?(
    accepted: Accepted<NonNullable<Value>>,
    context: SectionContext,
  ): readonly Violation[] | Promise<readonly Violation[]>;
  /** Finds what is valid, but probably not intended. */
  warn?(value: NonNullable<Value>, written: unknown): readonly Violation[];
  /** Adds defaults that depend on other members. Default: none does. */
  complete?(value: NonNullable<Value>, wire: object): Whole;
  /** Default: it opens no further provider. */
  readonly further?: FurtherProviderRules;
  /** Default: nothing is shown. */
  readonly shown?: ShownPart<Whole, Shown>;
  /** Whether `modgate explain` lists its members as limits of a call. */
  readonly isLimit?: true;
  /**
   * Whether a release may make the change without the right for code, because it decides neither where a credential
   * goes nor what it is used for. Default: it may make none.
   */
  isFreeChange?(after: Whole, before: Whole): boolean;
}

// biome-ignore lint/suspicious/noExplicitAny: sections of any type are treated alike
export type AnySection = Section<any, any, any>;

export function defineSection<Value, Whole = ReadonlyDeep<Value>, Shown = undefined>(
  section: Section<Value, Whole, Shown>,
): Section<Value, Whole, Shown> {
  return section;
}

/** For a section that releases may change at will. */
export const ANY_CHANGE = () => true;
