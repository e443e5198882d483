import type { DescMethod } from '@bufbuild/protobuf';

/** Fields of FileDescriptorProto and ServiceDescriptorProto, of which paths of comments consist. */
export const SERVICES = 6;
export const METHODS = 2;

/** The comment before a method: its first paragraph, and the rest. Reflection usually has none. */
export function readComment(method: DescMethod): { summary: string; description: string } {
  const { parent } = method;
  const { proto, services } = parent.file;
  const path = [SERVICES, services.indexOf(parent), METHODS, parent.methods.indexOf(method)];
  const location = proto.sourceCodeInfo?.location.find(
    (each) => each.path.length === path.length && path.every((step, at) => each.path[at] === step),
  );
  const text = (location?.leadingComments ?? '').replaceAll(/^ /gm, '').trim();
  const [first = '', ...others] = text.split(/\n\s*\n/);
  const summary = first.replaceAll(/\s+/g, ' ').replace(/\.$/, '');
  return { summary, description: others.join('\n\n') };
}
