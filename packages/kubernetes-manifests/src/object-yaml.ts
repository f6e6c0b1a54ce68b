import { Document, isPair, isScalar, visit } from 'yaml'

/** An object as YAML. Texts of several lines, such as settings, are block literals, because people read and change them. */
export function objectYaml(object: object): string {
  const document = new Document(object, { version: '1.1', aliasDuplicateObjects: false })
  visit(document, {
    Pair(_, pair) {
      if (isPair(pair) && isScalar(pair.value) && String(pair.value.value).includes('\n'))
        pair.value.type = 'BLOCK_LITERAL'
    },
  })
  return document.toString({ lineWidth: 0 }).replace(/^%YAML.*\n---\n/, '')
}
