interface MemberRule {
  /** Completes `must be …`. */
  readonly expected: string;
  readonly isOptional?: true;
  readonly isValid: (value: unknown) => boolean;
}

/** The members that a host reads from an export, in the order of their diagnostics. */
export type MemberRules = Readonly<Record<string, MemberRule>>;

const TEXT: MemberRule = {
  expected: 'a text',
  isValid: (value) => typeof value === 'string' && value !== '',
};
const FUNCTION: MemberRule = {
  expected: 'a function',
  isValid: (value) => typeof value === 'function',
};
const STRUCT: MemberRule = {
  expected: 'a struct',
  isValid: (value) => isObject(value) && typeof Reflect.get(value, 'validate') === 'function',
};
/** Names may be those of a later contract: a host ignores what it does not know. */
const FEATURES: MemberRule = {
  expected: 'an object whose members are true or false, such as {}',
  isValid: (value) =>
    isObject(value) &&
    !Array.isArray(value) &&
    Object.values(value).every((is) => is === undefined || typeof is === 'boolean'),
};

const optional = (rule: MemberRule): MemberRule => ({ ...rule, isOptional: true });

export const ADAPTER_MEMBERS: MemberRules = {
  kind: TEXT,
  open: FUNCTION,
  config: STRUCT,
  supports: FEATURES,
  operation: optional(STRUCT),
  checkDescriptor: optional(FUNCTION),
  checkManifest: optional(FUNCTION),
  checkRoutes: optional(FUNCTION),
  describeConfig: optional(FUNCTION),
  tryCredentials: optional(FUNCTION),
};

export const AUTHENTICATOR_MEMBERS: MemberRules = { name: TEXT, open: FUNCTION, config: STRUCT };

export const SIGNER_MEMBERS: MemberRules = AUTHENTICATOR_MEMBERS;

export const SURFACE_MEMBERS: MemberRules = { ...AUTHENTICATOR_MEMBERS, prefix: TEXT };

export const IMPORTER_MEMBERS: MemberRules = { name: TEXT, read: FUNCTION, options: STRUCT };

/** Continues `exports …`: the first member that is missing or of the wrong type; `null` for none. */
export function findMemberProblem(value: object, rules: MemberRules): string | null {
  for (const [name, { expected, isOptional = false, isValid }] of Object.entries(rules)) {
    const member: unknown = Reflect.get(value, name);
    if (isValid(member) || (isOptional && member === undefined)) continue;
    if (member === undefined) return `without '${name}': it must be ${expected}`;
    return `with a wrong '${name}': it must be ${expected}${isOptional ? ', or absent' : ''}`;
  }
  return null;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
