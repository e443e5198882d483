import type { ConfigField, ConfigType, Manifest } from '../contract/index.js';
import { describePath, type Path, type Violation } from '../document/diagnostic.js';

const FIELDS = ['config', 'fields'];

/** Types, defaults and generated secrets of config fields (contract 4 and 5). */
export function validateConfig(manifest: Manifest): Violation[] {
  const fields = manifest.config?.fields ?? [];
  return [
    // Delivery keys values by `service/key`, so that is what must be unique.
    ...findDuplicates(fields, FIELDS, ({ service, key }) => `${service}/${key}`, 'key'),
    ...fields.flatMap((field, index) => validateField(field, [...FIELDS, index])),
  ];
}

function validateField(field: ConfigField, path: Path): Violation[] {
  const typeFaults = validateType(field.type, [...path, 'type']);
  if (field.generated !== undefined) return [...typeFaults, ...validateGenerated(field, path)];
  if (field.default === undefined || typeFaults.length > 0) return typeFaults;
  const expected = explainMismatch(field.default, field.type);
  if (expected === null) return [];
  return [violationAt([...path, 'default'], 'bad-default', `must be ${expected}`)];
}

function validateType(type: ConfigType, path: Path): Violation[] {
  if (type.kind === 'enum') return validateEnum(type.values, [...path, 'values']);
  if (type.kind !== 'int' && type.kind !== 'float') return [];
  if (type.min === undefined || type.max === undefined || type.min <= type.max) return [];
  return [violationAt([...path, 'max'], 'min-above-max', "must not be less than 'min'")];
}

function validateEnum(values: readonly string[], path: Path): Violation[] {
  if (values.length === 0) return [violationAt(path, 'empty-enum', 'must name at least one value')];
  return findDuplicates(values, path, String, '');
}

function validateGenerated(field: ConfigField, path: Path): Violation[] {
  const faults: Violation[] = [];
  if (field.type.kind !== 'string') {
    const kindPath = [...path, 'type', 'kind'];
    faults.push(
      violationAt(kindPath, 'bad-generated', 'must be string, since a generated value is hex'),
    );
  }
  if (field.default !== undefined) {
    const defaultPath = [...path, 'default'];
    faults.push(violationAt(defaultPath, 'bad-generated', 'must be absent from a generated field'));
  }
  if (field.editable === true) {
    const editablePath = [...path, 'editable'];
    faults.push(
      violationAt(editablePath, 'bad-generated', 'must not be true for a generated field'),
    );
  }
  return faults;
}

/** What a value of a config type must be; `null` for one that is it. */
export function explainMismatch(value: unknown, type: ConfigType): string | null {
  switch (type.kind) {
    case 'bool':
      return typeof value === 'boolean' ? null : 'true or false';
    case 'int':
      if (!Number.isSafeInteger(value)) return 'a whole number';
      return isWithin(value as number, type) ? null : "within 'min' and 'max' of its type";
    case 'float':
      if (typeof value !== 'number' || !Number.isFinite(value)) return 'a number';
      return isWithin(value, type) ? null : "within 'min' and 'max' of its type";
    case 'string':
      return typeof value === 'string' ? null : 'a string';
    case 'enum':
      return type.values.includes(value as string) ? null : "one of 'values' of its type";
    case 'json':
      return null;
  }
}

function isWithin(value: number, { min, max }: { min?: number; max?: number }): boolean {
  return value >= (min ?? Number.NEGATIVE_INFINITY) && value <= (max ?? Number.POSITIVE_INFINITY);
}

/** A fault of a manifest at the value of a path; the message reads on after the path's name. */
export function violationAt(
  path: Path,
  rule: string,
  rest: string,
  hint: string | null = null,
): Violation {
  return { rule, message: `${describePath(path)} ${rest}`, hint, path, at: 'value' };
}

/** Faults for all but the first of those with one key. */
export function findDuplicates<T>(
  items: readonly T[],
  path: Path,
  readKey: (item: T) => string,
  member: string,
): Violation[] {
  const first = new Map<string, number>();
  return items.flatMap((item, index) => {
    const key = readKey(item);
    const earlier = first.get(key);
    if (earlier === undefined) {
      first.set(key, index);
      return [];
    }
    const other = describePath([...path, earlier, ...memberPath(member)]);
    return [
      violationAt([...path, index, ...memberPath(member)], 'duplicate-name', `repeats ${other}`),
    ];
  });
}

function memberPath(member: string): string[] {
  return member === '' ? [] : [member];
}
