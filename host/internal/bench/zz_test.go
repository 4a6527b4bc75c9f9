package main
import ("testing";"context")
func BenchmarkRound(b *testing.B){
 e, err := newEngine(context.Background(), "native", b.TempDir(), nil)
 if err!=nil {b.Fatal(err)}
 inst, err := greeted(context.Background(), e)
 if err!=nil {b.Fatal(err)}
 r, err := newRoundTrip(inst)
 if err!=nil {b.Fatal(err)}
 b.ReportAllocs()
 for b.Loop() { if err := r.trip(); err!=nil {b.Fatal(err)} }
}
func BenchmarkFurther(b *testing.B){
 e, err := newEngine(context.Background(), "native", b.TempDir(), nil)
 if err!=nil {b.Fatal(err)}
 b.ReportAllocs()
 for b.Loop() { inst, err := greeted(context.Background(), e); if err!=nil {b.Fatal(err)}; inst.Close(context.Background()) }
}
