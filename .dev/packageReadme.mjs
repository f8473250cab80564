const picture = /^!\[[^\]]*\]\((?!\w+:)[^)]+\)\n\n?/gm;
const link = /\[([^\]]*)\]\((?!\w+:|#)[^)]+\)/g;

/**
 * The README as the package holds it. VS Code shows it without the repository around it, and of pictures only those with an
 * address: what is relative would be a broken picture or a dead link, so it is left out, a link's words excepted.
 *
 * @param {string} readme
 */
export function packageReadme(readme) {
  return readme.replace(picture, '').replace(link, '$1');
}
