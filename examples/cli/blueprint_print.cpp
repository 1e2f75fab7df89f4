// h5mote blueprint: prints the C++ text.
#include "blueprint.hpp"
#include "cpp_types.hpp"
#include "output.hpp"

#include <algorithm>
#include <cstring>

namespace h5mote::cli {

namespace {

constexpr std::size_t kColumns = 100;

DatatypeView view(const std::vector<std::byte>& type) { return DatatypeView{{type.data(), type.size()}}; }

// Breaks lines that are too long where an element of a list ends, but not within texts.
std::string wrapped(const std::string& text, std::size_t indent) {
    std::string lines;
    std::size_t begin = 0;
    std::size_t column = indent;
    char quote = 0;
    for (std::size_t i = 0; i < text.size(); ++i, ++column) {
        const char character = text[i];
        if (quote != 0) {
            if (character == '\\') {
                ++i;
            } else if (character == quote) {
                quote = 0;
            }
        } else if (character == '"' || character == '\'') {
            quote = character;
        } else if (character == ' ' && column >= kColumns && text[i - 1] == ',') {
            lines += text.substr(begin, i - begin) + "\n" + std::string(indent + 4, ' ');
            begin = i + 1;
            column = indent + 4;
        }
    }
    return lines + text.substr(begin);
}

// A remark cannot continue on the next line, as a backslash at its end would make it do.
std::string comment(const std::string& text) {
    std::string line = "// ";
    for (const char character : text) {
        line += static_cast<unsigned char>(character) < 0x20 ? '?' : character;
    }
    return line.back() == '\\' ? line + '.' : line;
}

class BlueprintText {
public:
    BlueprintText(BlueprintModel& model, Report& report)
        : model_(model), report_(report), types_([this](const std::string& name, const std::string& in_cpp) {
              remark(*current_, report_, current_->path, "the name \"" + name + "\" is no name in C++: " + in_cpp);
          }) {}

    void run() {
        for (const BlueprintObject& object : model_.objects) {
            types_.reserve(view(object.type));
            for (const BlueprintAttribute& attribute : object.attributes) {
                types_.reserve(view(attribute.type));
            }
        }
        file_ = "inline constexpr auto kBlueprint = blueprint::file(\n    blueprint::FileOptions{" +
                std::to_string(model_.sizeof_addr) + ", " + (model_.track_order ? "true" : "false") + "}";
        put_items(0, 4);
        file_ += ");\n";
    }
    const std::string& types() const { return types_.declarations(); }
    const std::string& file() const { return file_; }

private:
    // std::array<std::array<T, 3>, 2> for elements T with the dimensions 2 and 3.
    static std::string array_type(std::string name, const std::vector<std::uint64_t>& dims) {
        for (std::size_t i = dims.size(); i-- > 0;) {
            name.insert(0, "std::array<").append(", ").append(std::to_string(dims[i])).append(">");
        }
        return name;
    }
    std::string list(DatatypeView type, const std::vector<std::uint64_t>& dims, std::size_t dimension,
                     const std::byte*& at) {
        if (dimension == dims.size()) {
            const std::byte* const element = at;
            at += type.size();
            return types_.value(type, element, false);
        }
        std::string text = "{{";
        for (std::uint64_t i = 0; i < dims[dimension]; ++i) {
            text += (i == 0 ? "" : ", ") + list(type, dims, dimension + 1, at);
        }
        return text + "}}";
    }
    std::string value(DatatypeView type, const std::vector<std::uint64_t>& dims, const std::vector<std::byte>& bytes,
                      const std::string& hint) {
        const std::string element = types_.type(type, hint);
        if (dims.empty()) {
            return types_.value(type, bytes.data());
        }
        const std::byte* at = bytes.data();
        return array_type(element, dims) + list(type, dims, 0, at);
    }

    // A text that blueprint::attribute() stores as it stands in the file.
    static bool is_text(const BlueprintAttribute& attribute) {
        const DatatypeView type = view(attribute.type);
        const bool ascii = std::all_of(attribute.value.begin(), attribute.value.end(),
                                       [](std::byte byte) { return byte < std::byte{0x80}; });
        const bool zeros =
            std::find(attribute.value.begin(), attribute.value.end(), std::byte{0}) != attribute.value.end();
        return type.type_class() == TypeClass::string && attribute.dims.empty() && !zeros &&
               type.padding() == StringPadding::null_padded &&
               type.character_set() == (ascii ? CharacterSet::ascii : CharacterSet::utf8);
    }

    std::string attribute_text(const BlueprintAttribute& attribute) {
        const std::string name = string_literal(attribute.name);
        if (attribute.is_empty) {
            return "blueprint::empty<" + types_.type(view(attribute.type), attribute.name) + ">(" + name + ")";
        }
        if (is_text(attribute) && !attribute.is_setting) {
            return "blueprint::attribute(" + name + ", " +
                   string_literal({reinterpret_cast<const char*>(attribute.value.data()), attribute.value.size()}) +
                   ")";
        }
        return std::string("blueprint::") + (attribute.is_setting ? "setting(" : "attribute(") + name + ", " +
               value(view(attribute.type), attribute.dims, attribute.value, attribute.name) + ")";
    }
    static std::string scale_text(const BlueprintScale& scale) {
        return std::string("blueprint::") + (scale.address == kUndefinedAddress ? "label(" : "scale(") +
               string_literal(scale.text) + (scale.dimension == 0 ? "" : ", " + std::to_string(scale.dimension)) + ")";
    }
    std::string head(const BlueprintObject& object) {
        const std::string name = string_literal(object.name);
        switch (object.kind) {
            case BlueprintObject::Kind::dataset:
                return "blueprint::dataset<" + types_.type(view(object.type), object.name) + ">(" + name + ", " +
                       std::to_string(object.chunk);
            case BlueprintObject::Kind::constant:
                return "blueprint::constant(" + name + ", " +
                       value(view(object.type), object.dims, object.value, object.name);
            default:
                return "blueprint::group(" + name;
        }
    }

    void put(const std::string& text, std::size_t indent) {
        file_ += ",\n" + std::string(indent, ' ') + wrapped(text, indent);
    }
    // The items of an object, behind what stands in its parentheses already.
    void put_items(std::size_t index, std::size_t indent) {
        // Remarks come from the types as well, which are made with the items: a place is kept for them.
        const std::size_t place = file_.size();
        current_ = &model_.objects[index];
        for (const BlueprintAttribute& attribute : current_->attributes) {
            put(attribute_text(attribute), indent);
        }
        for (const BlueprintScale& scale : current_->scales) {
            put(scale_text(scale), indent);
        }
        for (const std::string& filter : current_->filters) {
            put("blueprint::" + filter, indent);
        }
        for (std::size_t i = index + 1; i < model_.objects.size(); ++i) {
            if (model_.objects[i].parent == index) {
                current_ = &model_.objects[i];
                put(head(*current_), indent);
                put_items(i, indent + 4);
                file_ += ")";
            }
        }
        std::string remarks;
        for (const std::string& text : model_.objects[index].remarks) {
            remarks += "\n" + std::string(indent, ' ') + comment(text);
        }
        if (!remarks.empty()) {
            const bool more = file_.size() > place;
            file_.insert(place, more ? "," + remarks : remarks + "\n" + std::string(indent, ' '));
            if (more) {
                file_.erase(place + 1 + remarks.size(), 1);  // the comma before the first item
            }
        }
    }

    BlueprintModel& model_;
    Report& report_;
    BlueprintObject* current_ = nullptr;
    CppTypes types_;
    std::string file_;
};

std::string name_space(const BlueprintOptions& options) {
    if (!options.name_space.empty()) {
        return options.name_space;
    }
    std::string stem = options.file.substr(options.file.rfind('/') + 1);
    stem = identifier_for(stem.substr(0, stem.rfind('.')));
    return stem == "std" || stem == "h5mote" || stem == "blueprint" ? stem + "_file" : stem;
}

}  // namespace

void print_blueprint(BlueprintModel& model, const BlueprintOptions& options, Report& report) {
    BlueprintText text(model, report);
    text.run();
    const std::string name = name_space(options);
    Output out;
    out.put(comment("A blueprint of " + options.file.substr(options.file.rfind('/') + 1) +
                    ", printed by `h5mote blueprint`."));
    out.put(
        "\n#pragma once\n\n#include <h5mote/blueprint.hpp>\n\n#include <array>\n#include <cstddef>\n"
        "#include <cstdint>\n#include <limits>\n\nnamespace " +
        name + " {\n\nnamespace blueprint = h5mote::blueprint;\n\n");
    out.put(text.types());
    out.put(text.file());
    out.put("\n}  // namespace " + name + "\n");
}

}  // namespace h5mote::cli
