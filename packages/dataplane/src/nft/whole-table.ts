import { hash } from 'node:crypto'
import type { NativeHelper, NftFamily, NftTableRef } from '@spout/sys'

/** An nft table, without the elements that the helper adds to its sets. */
export interface WholeTable<Family extends NftFamily = NftFamily> {
  readonly family: Family
  readonly name: string
  /** The table's comment: equal marks mean equal tables. */
  readonly mark: string
  /** nft commands that load it, replacing an older one in the same transaction. */
  readonly text: string
}

/**
 * @param body lines between the braces
 * @param links indexes of the interfaces that the rules name; a new index changes the mark
 */
export function wholeTable<Family extends NftFamily>(
  family: Family,
  name: string,
  body: readonly string[],
  links?: string | number,
): WholeTable<Family> {
  const digest = hash('sha256', body.join('\n'), 'hex').slice(0, 32)
  const mark = links === undefined ? digest : `${digest} ${links}`
  const lines = [`table ${family} ${name} {`, `  comment "${mark}"`, ...body, '}']
  return { family, name, mark, text: `${withoutTable(family, name)}${lines.join('\n')}\n` }
}

/** nft commands that remove a table, if it exists. */
export const withoutTable = (family: NftFamily, name: string): string =>
  `add table ${family} ${name}\ndelete table ${family} ${name}\n`

/** @param hook `type ... hook ... priority ...; policy ...;`, or null for a chain that is the target of a jump */
export const chain = (name: string, hook: string | null, rules: readonly string[]): readonly string[] => [
  `  chain ${name} {`,
  ...(hook === null ? [] : [`    ${hook}`]),
  ...rules.map((rule) => `    ${rule}`),
  '  }',
]

/** @returns whether the table had to be changed @throws HelperError if the kernel refuses it */
export async function loadTable(
  helper: NativeHelper,
  netns: NftTableRef['netns'],
  { family, name, mark, text }: WholeTable,
): Promise<boolean> {
  const { comment } = await helper.nftGeneration({ netns, family, table: name })
  if (comment === mark) return false
  await helper.nftText({ netns, text })
  return true
}
