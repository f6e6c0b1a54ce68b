/**
 * A name that a tenant chose, as text of its own direction: what is in it cannot turn the text around it.
 * @param or what stands there when it is empty, such as an id
 */
export const Name = ({ of, or = '' }: { readonly of: string; readonly or?: string }) => <bdi>{of === '' ? or : of}</bdi>
