import { create } from './dom.js';

/** Types that hold pixels only. SVG can hold links and scripts. */
const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif'];
const MAX_IMAGE_BYTES = 4_194_304;

/** Links whose bytes the browser keeps until their URL is revoked. */
const links = new Set<HTMLAnchorElement>();

/** Revokes the URLs of links that the page no longer shows. */
export function revokeUnusedLinks(): void {
  for (const link of links) {
    if (link.isConnected) continue;
    URL.revokeObjectURL(link.href);
    links.delete(link);
  }
}

/** Shows bytes: their size and type, a link that saves them, and an image as such. */
export async function createBinaryView(
  content: Blob,
  type: string,
  name: string,
): Promise<HTMLElement[]> {
  const about = `${content.size} bytes, ${type === '' ? 'no type' : type} `;
  const views = [create('p', {}, about, createLink(content, name))];
  if (!IMAGES.includes(type) || content.size > MAX_IMAGE_BYTES) return views;
  // The page's policy allows images in data: URLs.
  const src = await readUrl(content.slice(0, content.size, type));
  return [...views, create('img', { src, alt: 'The response' })];
}

/** Without a type that the browser shows: opened in a tab, HTML would run as this origin. */
function createLink(content: Blob, name: string): HTMLAnchorElement {
  const href = URL.createObjectURL(content.slice(0, content.size, 'application/octet-stream'));
  const link = create('a', { href, download: name }, 'Download');
  links.add(link);
  return link;
}

function readUrl(content: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('the image cannot be read'));
    reader.readAsDataURL(content);
  });
}
