/** A reference to an object; what is left out has the default of its field. */
export interface ObjectRef {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
}

/** Where a route wants to attach: by default to all listeners of a Gateway of its own namespace. */
export interface ParentRef extends ObjectRef {
  readonly sectionName?: string
  readonly port?: number
}

/** A backend of a rule, by default a Service, and its share. */
export interface BackendRef extends ObjectRef {
  readonly port?: number
  /** 1 when left out. */
  readonly weight?: number
}
