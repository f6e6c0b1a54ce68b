export const ChartsView = ({ id }: { readonly id: string }) => <p>{id}</p>
