/** A share for people: `33.3 %`. */
export const percentText = (percent: number): string =>
  `${percent.toLocaleString(undefined, { maximumFractionDigits: 1 })} %`
