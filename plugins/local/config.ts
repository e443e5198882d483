import { type Infer, object, refine } from 'superstruct';
import { fileReference } from '../../core/contract/index.js';

/** `provider.config` of kind `local`: code is imported from its path, so it cannot be a variable. */
export const localConfig = object({
  file: refine(fileReference(), 'path of an ESM file', (value) => !value.startsWith('env:')),
});

export type LocalConfig = Infer<typeof localConfig>;
