import type { CelRule } from '@spout/kube'

/**
 * CEL rules about addresses. For a text that is not an address, an expression fails as a whole with an unhelpful
 * message. So each rule checks the form first, and leaves a wrong form to the rule for it.
 */

export const isAddress = (field: string): CelRule => ({
  rule: `!has(self.${field}) || isIP(self.${field})`,
  message: 'is not an address',
  fieldPath: `.${field}`,
})

/** The rule that a field is a prefix whose host bits are 0. */
export const isPrefix = (field: string): CelRule => ({
  rule: `!has(self.${field}) || (isCIDR(self.${field}) && cidr(self.${field}) == cidr(self.${field}).masked())`,
  message: 'is not a prefix such as 192.0.2.0/24, with host bits 0',
  fieldPath: `.${field}`,
})

/** CEL for the 32 bits of an IPv4 address as a number. */
const number4 = (field: string): string =>
  [16_777_216, 65_536, 256, 1].map((weight, at) => `int(self.${field}.split('.')[${at}]) * ${weight}`).join(' + ')

/** CEL for the groups on one side of `::`, with four digits each and without colons. */
const digits = (field: string, side: 0 | 1): string =>
  [
    `self.${field}.lowerAscii().split('::')[${side}].split(':')`,
    ".filter(g, g != '').map(g, ('000' + g).substring(g.size() - 1)).join('')",
  ].join('')

/** CEL for the 32 digits of an IPv6 address, which sort like the address. */
function digits6(field: string): string {
  const left = digits(field, 0)
  const right = `(self.${field}.contains('::') ? ${digits(field, 1)} : '')`
  return `(${left} + '${'0'.repeat(32)}'.substring(${left}.size() + ${right}.size()) + ${right})`
}

/**
 * The rule that `first` does not come after `last`. CEL cannot compare addresses. IPv6 addresses that end in an IPv4
 * address are left to the control plane.
 */
export const IN_ORDER: CelRule = {
  rule: [
    '!has(self.first) || !has(self.last) || !isIP(self.first) || !isIP(self.last)',
    '|| (ip(self.first).family() == ip(self.last).family() && (ip(self.first).family() == 4',
    `? ${number4('first')} <= ${number4('last')}`,
    `: self.first.contains('.') || self.last.contains('.') || ${digits6('first')} <= ${digits6('last')}))`,
  ].join(' '),
  message: 'comes before first, or is of another family',
  fieldPath: '.last',
}
