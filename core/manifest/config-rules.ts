import type { ConfigField, ConfigType, Manifest } from '../contract/index.js';
import type { Path, Violation } from '../document/diagnostic.js';
import { findDuplicates, violationAt } from './violation-at.js';

const FIELDS = ['config', 'fields'];

/** Validates types, defaults and generated secrets of config fields. */
export function validateConfigFields(manifest: Partial<Manifest>): Violation[] {
  const fields = manifest.config?.fields ?? [];
  return [
    // Values are delivered by `service/key`, which must be unique.
    ...findDuplicates(fields, FIELDS, ({ service, key }) => `${service}/${key}`, 'key'),
    ...fields.flatMap((field, index) => validateField(field, [...FIELDS, index])),
  ];
}

function validateField(field: ConfigField, path: Path): Violation[] {
  const typeViolations = validateType(field.type, [...path, 'type']);
  if (field.generated !== undefined) return [...typeViolations, ...validateGenerated(field, path)];
  const isChecked = field.default !== undefined && !hasRejectedValues(field.type);
  if (!isChecked || typeViolations.length > 0) return typeViolations;
  const expected = explainMismatch(field.default, field.type);
  if (expected === null) return [];
  return [violationAt([...path, 'default'], 'bad-default', `must be ${expected}`)];
}

/** Rejected values of an enum are holes, and the default may be one of them. */
function hasRejectedValues(type: ConfigType): boolean {
  return type.kind === 'enum' && Object.keys(type.values).length < type.values.length;
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
  const violations: Violation[] = [];
  if (field.type.kind !== 'string') {
    const kindPath = [...path, 'type', 'kind'];
    violations.push(
      violationAt(kindPath, 'bad-generated', 'must be string, since a generated value is hex'),
    );
  }
  if (field.default !== undefined) {
    const defaultPath = [...path, 'default'];
    violations.push(
      violationAt(defaultPath, 'bad-generated', 'must be absent from a generated field'),
    );
  }
  if (field.editable === true) {
    const editablePath = [...path, 'editable'];
    violations.push(
      violationAt(editablePath, 'bad-generated', 'must not be true for a generated field'),
    );
  }
  return violations;
}

/** The violated requirement of a config type; `null` for a valid value. */
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
