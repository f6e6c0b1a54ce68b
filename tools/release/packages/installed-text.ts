/** Where packages put what is ours. C programs are there by the agent's own defaults. */
export const LIBRARY = '/usr/lib/spout'
export const DOCUMENTS = '/usr/share/doc/spout'

/** Paths of a checkout, as units and the image's entry point name them, and what stands for them after an installation. */
const MOVED: readonly (readonly [RegExp, string])[] = [
  [/^root=.*\n/gm, ''],
  [/(?:\/opt\/spout|\$root)\/node_modules\/\.bin\/node/g, `${LIBRARY}/node`],
  [/(?:\/opt\/spout|\$root)\/apps\/([\w$-]+)\/src\/main\.ts/g, `${LIBRARY}/$1/main.js`],
  [/\/opt\/spout\/docs\//g, `${DOCUMENTS}/`],
]

/**
 * The text of a unit or a script of `deploy/` for an installed package. So both are one file, and only paths differ.
 * @throws Error for a path of a checkout that has no installed counterpart
 */
export function installedText(text: string): string {
  const installed = MOVED.reduce((moved, [from, to]) => moved.replaceAll(from, to), text)
  const left = /(?:\/opt\/spout|\$root)\S*/.exec(installed)?.[0]
  if (left !== undefined) throw new Error(`${left} is not in a package`)
  return installed
}
