/** HAProxy's condition that a variable of the request (`txn.<name>`) has a value. */
export const isSet = (name: string): string => `{ var(txn.${name}) -m found }`
