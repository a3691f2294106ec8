// go run shop.go 8000
package main

import (
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(answer http.ResponseWriter, inbound *http.Request) {
		outbound, _ := http.NewRequestWithContext(inbound.Context(), "GET", os.Getenv("PRICES"), nil)
		if baggage := inbound.Header.Get("baggage"); baggage != "" {
			outbound.Header.Set("baggage", baggage)
		}
		price, err := http.DefaultClient.Do(outbound)
		if err != nil {
			http.Error(answer, err.Error(), http.StatusBadGateway)
			return
		}
		defer price.Body.Close()
		io.Copy(answer, price.Body)
	})
	http.ListenAndServe("127.0.0.1:"+os.Args[1], nil)
}
