import { compareNames } from '../../lib/compare-texts.js';
import { createRoutes } from '../../modules/live-module.js';
import { configDigestOf, type DescriptorContext } from '../../modules/prepare-descriptor.js';
import { DocumentBuilder } from '../../openapi/create-document.js';
import type { DescribedHost, DescribedModule } from '../../openapi/described-module.js';
import { OperationNames } from '../../openapi/operation-names.js';
import { type CheckedDescriptor, checkDescriptors } from '../check/check-descriptors.js';
import { CommandError } from '../command-error.js';

interface FilesInput {
  readonly descriptors: DescriptorContext;
  readonly host: DescribedHost;
}

/**
 * The OpenAPI document that a host with these files would have.
 * @param only the names of the modules to describe; none: all
 * @throws CommandError for a module that the files do not have, or that is not valid.
 */
export async function createDocumentOfFiles(
  folder: string,
  only: readonly string[],
  { descriptors: context, host }: FilesInput,
): Promise<Buffer> {
  const { descriptors } = await checkDescriptors(folder, context);
  const modules = descriptors.flatMap(describeModule).sort(compareNames);
  const missing = only.find((name) => !modules.some((module) => module.name === name));
  if (missing !== undefined) {
    throw new CommandError(`${folder} has no module '${missing}' that can be described`);
  }
  const builder = new DocumentBuilder({ host, names: OperationNames.of(modules) });
  for (const module of modules) {
    if (only.length === 0 || only.includes(module.name)) builder.add(module);
  }
  return Buffer.concat(builder.build().pieces);
}

/** None for a module that a host would not serve, or not before it has loaded the manifest. */
function describeModule({ prepared }: CheckedDescriptor): DescribedModule[] {
  if (!prepared?.manifest || !prepared.descriptor.enabled) return [];
  const { descriptor, inputDigest } = prepared;
  const { manifest, digest } = prepared.manifest;
  const configDigest = configDigestOf(inputDigest, digest);
  const routes = createRoutes(descriptor, manifest);
  return [{ name: descriptor.module, configDigest, descriptor, manifest, routes }];
}
