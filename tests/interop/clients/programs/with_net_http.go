// net/http, with the environment's proxy and certificates.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var piece = []byte(strings.Repeat("0123456789abcdef", 1024))

type pieces struct{ done, size int }

func (p *pieces) Read(buffer []byte) (int, error) {
	if p.done == p.size {
		return 0, io.EOF
	}
	count := copy(buffer, piece[p.done%len(piece):])
	if count > p.size-p.done {
		count = p.size - p.done
	}
	p.done += count
	return count, nil
}

func givenUpAfter() time.Duration {
	seconds, err := strconv.ParseFloat(os.Getenv("CLIENT_SECONDS"), 64)
	if err != nil {
		seconds = 20
	}
	return time.Duration(seconds * float64(time.Second))
}

func client(follow bool) *http.Client {
	made := &http.Client{
		Timeout: givenUpAfter(),
		Transport: &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			ExpectContinueTimeout: 5 * time.Second,
			DisableCompression:    true,
		},
	}
	if !follow {
		made.CheckRedirect = func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}
	}
	return made
}

var stays, follows = client(false), client(true)

func act(mode, method, url, headers, body string) (map[string]any, error) {
	if mode == "ws" {
		return map[string]any{"na": "it has no WebSocket client"}, nil
	}
	var content io.Reader
	if strings.HasPrefix(body, "t:") {
		content = strings.NewReader(body[2:])
	} else if strings.HasPrefix(body, "s:") {
		size, _ := strconv.Atoi(body[2:])
		content = &pieces{size: size}
	}
	request, err := http.NewRequest(method, url, content)
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Split(headers, "\x1f") {
		if name, value, found := strings.Cut(line, ":"); found {
			request.Header.Add(name, value)
		}
	}
	used := stays
	if mode == "follow" {
		used = follows
	}
	response, err := used.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if mode == "sse" {
		return events(response, body[2:])
	}
	return answer(response)
}

func answer(response *http.Response) (map[string]any, error) {
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	headers := [][2]string{}
	for name, values := range response.Header {
		for _, value := range values {
			headers = append(headers, [2]string{strings.ToLower(name), value})
		}
	}
	start := content
	if len(start) > 4000 {
		start = start[:4000]
	}
	text := make([]rune, len(start))
	for i, octet := range start {
		text[i] = rune(octet)
	}
	return map[string]any{
		"status": response.StatusCode, "headers": headers, "size": len(content),
		"crc": crc32.ChecksumIEEE(content), "text": string(text),
	}, nil
}

func events(response *http.Response, following string) (map[string]any, error) {
	seen := []string{}
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "data:") {
			continue
		}
		seen = append(seen, strings.TrimSpace(lines.Text()[5:]))
		released, err := stays.Get(following)
		if err != nil {
			return nil, err
		}
		io.Copy(io.Discard, released.Body)
		released.Body.Close()
	}
	return map[string]any{"events": seen}, lines.Err()
}

func failed(err error) map[string]any {
	cause := err
	for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(cause) {
		cause = next
	}
	text, _, _ := strings.Cut(cause.Error(), " (")
	return map[string]any{"error": err.Error(), "causes": []string{text}}
}

func main() {
	orders := bufio.NewScanner(os.Stdin)
	for orders.Scan() {
		part := strings.Split(orders.Text(), "\t")
		said, err := act(part[0], part[1], part[2], part[3], part[4])
		if err != nil {
			said = failed(err)
		}
		line, _ := json.Marshal(said)
		fmt.Println(string(line))
	}
}
