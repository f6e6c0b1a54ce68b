import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { ANNOUNCER_NAMES } from '@spout/model'

/** The announcers' own folders, where code may decide by an announcer's name. */
const OWN = /^packages\/(model|plan|dataplane)\/src\/announcers\//
const NOT_PRODUCT = /(^|\/)testing\/|\.test\.ts$|^packages\/testkit\//

const name = `'(?:${ANNOUNCER_NAMES.join('|')})'`
/** Code that decides by a name: it compares with it, or lists it. A field with a name as its value does not decide. */
const DECIDES = new RegExp(
  [
    `[!=]==?\\s*${name}`,
    `${name}\\s*[!=]==?`,
    `\\bcase ${name}`,
    `\\[[^[\\]]*${name}\\s*,`,
    `,\\s*${name}\\s*\\]`,
  ].join('|'),
)

/**
 * Every line of the product that decides by an announcer's name, as `file:line: text`. Such code must ask the
 * announcer's descriptor instead.
 */
export const announcerNameViolations = (root: string): readonly string[] =>
  globSync('{packages/*,packages/intents/*,apps/*}/src/**/*.ts', { cwd: root })
    .filter((file) => !OWN.test(file) && !NOT_PRODUCT.test(file))
    .sort()
    .flatMap((file) => namesThatDecide(readFileSync(path.join(root, file), 'utf8')).map((found) => `${file}:${found}`))

/** @returns `line: text` of each */
export const namesThatDecide = (source: string): readonly string[] =>
  source.split('\n').flatMap((text, index) => (DECIDES.test(text) ? [`${index + 1}: ${text.trim()}`] : []))
