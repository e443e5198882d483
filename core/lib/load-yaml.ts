import { createRequire } from 'node:module';
import type * as Yaml from 'yaml';

const require = createRequire(import.meta.url);

/** The library, which comes with the first text in YAML: 73 files, for which a folder of JSON need not wait. */
export function loadYaml(): typeof Yaml {
  return require('yaml') as typeof Yaml;
}
